import PipelineCommand

await Command.main()

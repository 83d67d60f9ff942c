/// Fails every load of a list that was edited at run time, if a stage of it can never run or an edit found no place.
struct InvalidList: Stage {
    let problem: String

    var accepts: Phases { .empty }
    var produces: Phases { .empty }

    func run(_ load: inout Load) async throws -> Outcome {
        throw LoadError(.stageContract, subject: load.subject, problem)
    }
}

import Foundation
import Pipeline
import Testing

@testable import PipelineShared

@Suite("Buckets")
struct S3BucketTests {
    @Test(
        "are named by a URL, with the store in its query or in the environment",
        arguments: [
            ("s3://images", [:], "https://images.s3.us-east-1.amazonaws.com/a", "us-east-1"),
            ("s3://images/x/y/", [:], "https://images.s3.us-east-1.amazonaws.com/x/y/a", "us-east-1"),
            ("s3://images?region=eu-west-1", [:], "https://images.s3.eu-west-1.amazonaws.com/a", "eu-west-1"),
            (
                "s3://im.ages?style=path", ["AWS_DEFAULT_REGION": "eu-west-2"],
                "https://s3.eu-west-2.amazonaws.com/im.ages/a", "eu-west-2"
            ),
            ("s3://images/x?endpoint=http://127.0.0.1:9000", [:], "http://127.0.0.1:9000/images/x/a", "us-east-1"),
            (
                "s3://images?endpoint=https://store&style=host&region=r", ["AWS_REGION": "other"],
                "https://images.store/a", "r"
            ),
            (
                "s3://images", ["AWS_ENDPOINT_URL_S3": "http://minio:9000/", "AWS_REGION": "here"],
                "http://minio:9000/images/a", "here"
            ),
            ("s3://images?region=there", ["AWS_ENDPOINT_URL": "http://minio"], "http://minio/images/a", "there"),
        ] as [(String, [String: String], String, String)])
    func reading(_ text: String, _ environment: [String: String], _ url: String, _ region: String) throws {
        let bucket = try S3Bucket(text, environment: environment)
        #expect(bucket.url(of: "a")?.absoluteString == url)
        #expect(bucket.endpoint.region == region)
    }

    @Test(
        "are refused with what to write instead, without credentials",
        arguments: [
            ("http://images", "s3://bucket/prefix"), ("s3:///images", "s3://bucket/prefix"),
            ("s3://key:hunter2@images", "s3://bucket/prefix"),
            ("s3://images?secret=hunter2", "endpoint, region and style"),
            ("s3://images?style=other", "path or host"), ("s3://im%20ages", "letters"),
            ("s3://images?endpoint=ftp://store", "https://host:port"),
            ("s3://images?endpoint=http://store/path", "https://host:port"),
        ])
    func refusing(_ text: String, _ advice: String) {
        let error = #expect(throws: LoadError.self) { try S3Bucket(text, environment: [:]) }
        #expect(
            error.map { "\($0)".contains(advice) && !"\($0)".contains("hunter2") } == true,
            "\(String(describing: error))")
    }
}

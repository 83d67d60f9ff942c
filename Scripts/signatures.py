#!/usr/bin/env python3
"""Makes the signatures that the signer of S3 requests is held against, with botocore: not with any code of ours.

    python3 Scripts/signatures.py >Tests/PipelineSharedTests/S3/signatures.json
"""

import datetime
import json
import unittest.mock
from urllib.parse import quote

import botocore.auth
import botocore.awsrequest
import botocore.credentials

KEYS = [
    "a.jpg", "folder/a.jpg", "a b.jpg", "a+b.jpg", "ümläut.jpg", "日本/写真.jpg", "~tilde", "a%20b", "a//b", "./a", "a/../b",
    "trailing/", "!*'()", "a;b,c", "$file.text", "@:&=", "\"<>", "[x]", "{y}", "^`|", "?", "#", "\\", "a/b/c/d/e",
    "-._~", "é", "e\u0301", "🙂.png", "%", "=",
]
QUERIES = [
    "", "lifecycle=", "max-keys=2&prefix=J", "prefix=a%2Fb&delimiter=%2F", "b=2&a=1&a=0", "x=%20&y=%2B",
    "versionId=3%2F%3D", "A=1&a=2",
]
HEADERS = [
    {}, {"Range": "bytes=0-9"}, {"x-amz-storage-class": "REDUCED_REDUNDANCY"},
    {"x-amz-meta-note": "  two   spaces  "}, {"If-None-Match": '"1"', "Accept": "image/webp"},
    {"Content-Type": "image/jpeg", "X-Amz-Meta-B": "b", "X-Amz-Meta-A": "a"},
]
HOSTS = ["s3.eu-central-1.amazonaws.com", "bucket.s3.amazonaws.com", "127.0.0.1:9000", "minio.example:443"]
TOKENS = [None, "token/with+signs=="]

cases = []
for number, key in enumerate(KEYS * 2):
    query = QUERIES[number % len(QUERIES)]
    headers = HEADERS[number % len(HEADERS)]
    host = HOSTS[number % len(HOSTS)]
    token = TOKENS[number // len(KEYS)]
    method = ["GET", "PUT", "DELETE", "HEAD"][number % 4]
    body = f"body {number}" if method == "PUT" else ""
    time = datetime.datetime(2013, 5, 24, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=86413 * number)
    path = "/bucket/" + quote(key, safe="/-._~")
    scheme = "https" if number % 4 != 2 else "http"
    url = f"{scheme}://{host}{path}" + (f"?{query}" if query else "")
    request = botocore.awsrequest.AWSRequest(method=method, url=url, headers=dict(headers), data=body.encode())
    request.context["payload_signing_enabled"] = True
    credentials = botocore.credentials.Credentials("AKIDEXAMPLE", "secret/key+example", token)
    signer = botocore.auth.S3SigV4Auth(credentials, "s3", "eu-central-1")
    with unittest.mock.patch("botocore.auth.get_current_datetime", return_value=time.replace(tzinfo=None)):
        signer.add_auth(request)
    cases.append({
        "method": method, "url": url, "headers": headers, "body": body, "token": token,
        "time": time.timestamp(), "authorization": request.headers["Authorization"],
    })
print(json.dumps(cases, indent=1, ensure_ascii=False))

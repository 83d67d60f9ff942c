#!/usr/bin/env python3
"""Runs the tests of iiif-validator-ng against a running server: all of level 0 to 2, and the optional ones.

  Scripts/iiif.py BASE OPTIONAL    such as http://127.0.0.1:8080/iiif 9: how many optional tests have to pass

The package's own command needs Python 3.12 and runs only the optional tests that the server announces.
"""
import sys

from iiif_validator.tests.test import ComplianceLevel, IIIFVersion, TargetServer, get_tests

base, wanted = sys.argv[1], int(sys.argv[2])
server = TargetServer(base, validation_id="67352ccc-d1b0-11e1-89ae-279075081939", version=IIIFVersion.V3)
passed, failed = {True: 0, False: 0}, {True: 0, False: 0}
for test in get_tests(server.version):
    level = test.compliance_level
    if isinstance(level, dict):
        level = level[server.version]
    is_optional = level == ComplianceLevel.OPTIONAL
    try:
        results = test.run(server)
        results = results if isinstance(results, list) else [results]
        problems = [f"{r.details}: expected {r.expected}, received {r.received} ({r.url})" for r in results if not r.success]
    except Exception as error:  # The tests raise plain exceptions for a status that they did not expect.
        problems = [f"{type(error).__name__}: {error}"]
    (failed if problems else passed)[is_optional] += 1
    word = "ok" if not problems else "miss" if is_optional else "FAIL"
    print(f"{word:4} {level.name.lower():9} {test.name}")
    for problem in problems:
        print(f"       {problem}")
print(f"level 2: {passed[False]} of {passed[False] + failed[False]}; optional: {passed[True]} of {passed[True] + failed[True]}")
sys.exit(failed[False] > 0 or passed[True] < wanted)

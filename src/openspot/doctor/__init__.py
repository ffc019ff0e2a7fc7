"""`openspot doctor`: looks at a machine and a deployment, and says what is wrong and what to do.

Each module looks at one part. A look changes nothing and has a time limit. docs/operations/doctor.md lists what they
find.
"""

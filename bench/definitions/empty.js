// Ends at once: what a fork costs without Longshore.
process.exitCode = 0;

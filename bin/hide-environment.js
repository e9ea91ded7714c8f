// What a process was given as its environment stays where the kernel put it, and every process of
// the same user reads it in /proc/PID/environ, whatever becomes of the variables later. Jobs that run
// as the user of their worker would find the URL of the database there. So the values are moved
// elsewhere in memory, and the place where they were is overwritten.
//
// This is plain JavaScript beside the program, because the program may first look for a newer Node
// to run on, and stays as its parent then.
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

// Every process of Longshore has these, those of jobs included (src/runtime/processes/environment.ts).
var SHOWN = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'NODE_ENV'];

/** Does nothing where there is no /proc, or none that can be written. */
export function hideEnvironment() {
  if (process.platform !== 'linux') return;
  try {
    // Numbers 50 and 51 of proc(5); the second one, the name, may hold blanks, and ends with ")".
    var stat = readFileSync('/proc/self/stat', 'utf8');
    var fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    var start = Number(fields[47]);
    var length = Number(fields[48]) - start;
    if (!(start > 0 && length > 0)) return;
    moveVariables();
    var memory = openSync('/proc/self/mem', 'r+');
    try {
      var bytes = Buffer.alloc(length);
      readSync(memory, bytes, 0, length, start);
      blankValues(bytes);
      writeSync(memory, bytes, 0, length, start);
    } finally {
      closeSync(memory);
    }
  } catch {
    // "longshore doctor" says what a job can read.
  }
}

/** A variable that is set again lies in memory of the C library's own. */
function moveVariables() {
  for (var name of Object.keys(process.env)) {
    var value = process.env[name];
    delete process.env[name];
    process.env[name] = value;
  }
}

/** "NAME=value", each with a zero at its end. */
function blankValues(bytes) {
  for (var at = 0; at < bytes.length;) {
    var end = bytes.indexOf(0, at);
    if (end < 0) end = bytes.length;
    var equals = bytes.indexOf('=', at);
    if (equals >= at && equals < end && !SHOWN.includes(bytes.toString('latin1', at, equals))) {
      bytes.fill(0, equals + 1, end);
    }
    at = end + 1;
  }
}

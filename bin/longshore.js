#!/usr/bin/env node
// Plain, old JavaScript on purpose: it must parse on any Node, so that a Node that is too old gets
// one clear line instead of a syntax error.
var wanted = [22, 18];
var found = process.versions.node.split('.').map(Number);

if (found[0] < wanted[0] || (found[0] === wanted[0] && found[1] < wanted[1])) {
  process.stderr.write(
    'Longshore needs Node ' +
      wanted.join('.') +
      ' or newer; this is Node ' +
      process.versions.node +
      '. In a checkout: npx node ' +
      process.argv[1] +
      ', or npm start\n',
  );
  process.exit(2);
}

// A checkout runs its sources, and a package, which has none, its build.
import('../src/cli/main.ts').catch(function (error) {
  var missing = error && error.code === 'ERR_MODULE_NOT_FOUND';
  if (missing && String(error.url).endsWith('/src/cli/main.ts')) {
    return import('../dist/cli/main.js');
  }
  throw error;
});

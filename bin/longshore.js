#!/usr/bin/env node
// Plain, old JavaScript on purpose: it must parse on any Node, so that a Node that is too old gets
// a newer one, or one clear line, instead of a syntax error.
var WANTED = [22, 18];

// Before anything else: secrets in the environment are not for the jobs (hide-environment.js).
// A Node that is too old for it is too old for all the rest.
import('./hide-environment.js')
  .then(function (module) {
    module.hideEnvironment();
  })
  .then(begin, begin);

function begin() {
  if (isOld(process.versions.node)) runOnNewerNode();
  else runHere();
}

function isOld(version) {
  var found = version.split('.').map(Number);
  return found[0] < WANTED[0] || (found[0] === WANTED[0] && found[1] < WANTED[1]);
}

function runHere() {
  var args = process.argv.slice(2);
  // Scripts ask for it often, and nothing else is needed for the answer.
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) return printVersion();
  void Promise.all([import('./built.cjs'), import('url')]).then(function (modules) {
    var built = modules[0].builtFolder();
    if (built === null) return import('../src/cli/main.ts');
    return import(modules[1].pathToFileURL(built + '/cli/main.js').href);
  });
}

function printVersion() {
  void import('./built.cjs').then(function (module) {
    process.stdout.write(module.version() + '\n');
  });
}

// A checkout, and a project made by `longshore init`, have a newer Node as the npm package `node`.
// npm scripts and npx find it by themselves; whoever calls this file directly gets it here.
function runOnNewerNode() {
  Promise.all([import('child_process'), import('fs'), import('path')]).then(
    function (modules) {
      var node = findNewerNode(modules[1], modules[2]);
      if (node === null) refuse();
      else runWith(node, modules[0]);
    },
    // A Node so old that it has no import().
    refuse,
  );
}

// Beside the link that was called, then beside this file: a project may link a checkout.
function findNewerNode(fs, path) {
  var called = path.resolve(process.argv[1]);
  var self = fs.realpathSync(process.execPath);
  var starts = [path.dirname(called), path.dirname(fs.realpathSync(called))];
  for (var index = 0; index < starts.length; index += 1) {
    var folder = starts[index];
    for (;;) {
      var home = path.join(folder, 'node_modules', 'node');
      var program = path.join(home, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
      try {
        var text = fs.readFileSync(path.join(home, 'package.json'), 'utf8');
        // The program that runs now is no newer one, whatever its package says of it.
        if (!isOld(JSON.parse(text).version) && fs.realpathSync(program) !== self) return program;
      } catch (missing) {
        void missing;
      }
      var parent = path.dirname(folder);
      if (parent === folder) break;
      folder = parent;
    }
  }
  return null;
}

function runWith(node, processes) {
  var child = null;
  // A terminal sends Ctrl-C to both; a second one would stop a server that is draining.
  var terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  ['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      if (signal !== 'SIGINT' || !terminal) child.kill(signal);
    });
  });
  child = processes.spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  child.on('error', function (error) {
    process.stderr.write('error: cannot run ' + node + ': ' + error.message + '\n');
    process.exit(2);
  });
  child.on('exit', function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function refuse() {
  process.stderr.write(
    'Longshore needs Node ' +
      WANTED.join('.') +
      ' or newer; this is Node ' +
      process.versions.node +
      '. Install a newer Node, or add one to your project: npm install node@24' +
      ' (then run: npx longshore)\n',
  );
  process.exit(2);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The command that starts a server in this folder: its npm script where it has one. */
export function startCommand(folder: string): string {
  const scripts = scriptsIn(folder);
  const isOurs = (name: string) => /\blongshore\b/.test(String(scripts[name] ?? ''));
  if (isOurs('dev')) return '`npm run dev`';
  return isOurs('start') ? '`npm start`' : '`npx longshore start`';
}

function scriptsIn(folder: string): Record<string, unknown> {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    return scripts ?? {};
  } catch {
    return {};
  }
}

/** `longshore mcp`: tools for agents, over the public API. Loaded on demand. */
export type { Plan } from './plan.ts';
export { writesProblem } from './plan.ts';
export { serveHttp } from './serve-http.ts';
export { serveStdio } from './serve-stdio.ts';
export { TOOLS } from './tools/all.ts';

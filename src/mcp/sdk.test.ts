import { expect, test } from 'vitest';
import { loadHttpSdk, loadStdioSdk } from './sdk.ts';

const nothing = async () => await Promise.reject(new Error('Cannot find package'));

test('without the SDK, the error says what to install', async () => {
  await expect(loadStdioSdk(nothing)).rejects.toThrow(
    'run "npm install @modelcontextprotocol/server"',
  );
  await expect(loadHttpSdk(nothing)).rejects.toThrow(
    'run "npm install @modelcontextprotocol/server @modelcontextprotocol/node"',
  );
});

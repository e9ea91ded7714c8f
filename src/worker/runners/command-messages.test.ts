import { describe, expect, it } from 'vitest';
import { commandLine } from './command-messages.ts';

const KNOWN = 'known are progress, message, heartbeat, event, payload, stream, result, error';

const only = (line: string) => {
  const { messages, problems } = commandLine(line);
  expect(problems).toEqual([]);
  expect(messages).toHaveLength(1);
  return messages[0];
};

describe('what a command says', () => {
  it.each([
    ['{"progress":0.4}', { type: 'progress', fraction: 0.4, message: null }],
    ['{"progress":1,"message":""}', { type: 'progress', fraction: 1, message: '' }],
    ['{"heartbeat":true}', { type: 'heartbeat' }],
    ['{"stream":"a\\u0000b"}', { type: 'stream', text: 'a\uFFFDb' }],
    ['{"event":"t"}', { type: 'event', name: 't', payloadJson: 'null' }],
    ['{"event":"t","payload":{"a":[1]}}', { type: 'event', name: 't', payloadJson: '{"a":[1]}' }],
    [
      '{"error":{}}',
      {
        type: 'error',
        error: { code: 'HANDLER_ERROR', message: '', stack: null, cause: null },
        retryAfterMs: null,
      },
    ],
    [
      '{"error":{"code":"MINE","message":"m\\u0000","retryAfterMs":1.6}}',
      {
        type: 'error',
        error: { code: 'MINE', message: 'm\uFFFD', stack: null, cause: null },
        retryAfterMs: 2,
      },
    ],
  ])('is understood: %s', (line, message) => expect(only(line)).toEqual(message));

  it.each([
    ['{"result":null}', 'null'],
    [
      ' { "result" : { "b" : 1.0, "a" : 12345678901234567890 } } ',
      '{ "b" : 1.0, "a" : 12345678901234567890 }',
    ],
    ['{"result":"}"}', '"}"'],
    ['{"result":1,"result":2}', '2'],
    ['{"r\\u0065sult":[1]}', '[1]'],
  ])('is a result, as it was written: %s', (line, json) => {
    expect(only(line)).toEqual({ type: 'result', json });
  });

  it('may be several things at once', () => {
    const { messages, problems } = commandLine('{"progress":1,"message":"done","result":[1,2]}');
    expect(problems).toEqual([]);
    expect(messages.map(({ type }) => type)).toEqual(['progress', 'result']);
  });

  it('is a result only up to its limit', () => {
    const line = JSON.stringify({ result: 'é'.repeat(600_000) });
    expect(only(line)).toEqual({ type: 'result-too-large', bytes: 1_200_002 });
  });

  it.each([
    ['nonsense', 'the line is not a JSON object'],
    ['[1]', 'the line is not a JSON object'],
    ['null', 'the line is not a JSON object'],
    ['{}', 'it has no "progress", "heartbeat", "event", "stream", "result" or "error"'],
    [
      '{"message":"alone"}',
      'it has no "progress", "heartbeat", "event", "stream", "result" or "error"',
    ],
    ['{"progress":1.5}', '"progress" must be a number from 0 to 1'],
    ['{"progress":"half"}', '"progress" must be a number from 0 to 1'],
    ['{"progress":1,"message":2}', '"message" must be a string'],
    ['{"heartbeat":1}', '"heartbeat" must be true'],
    ['{"event":""}', '"event" must be a string of 1 to 100 characters'],
    ['{"error":"oops"}', '"error" must be an object'],
    ['{"error":{"code":""}}', '"code" must be 1 to 64 letters, digits and _ . : -'],
    ['{"error":{"message":5}}', '"message" of "error" must be a string'],
    ['{"error":{"retryAfterMs":-1}}', '"retryAfterMs" must be a number of milliseconds'],
    ['{"error":{"kode":"X"}}', 'unknown field of "error" "kode": did you mean "code"?'],
    ['{"reslut":1}', 'unknown field "reslut": did you mean "result"?'],
    ['{"__proto__":{"progress":1}}', `unknown field "__proto__": ${KNOWN}`],
  ])('is answered when it makes no sense: %s', (line, problem) => {
    const { messages, problems } = commandLine(line);
    expect(problems).toEqual([problem]);
    expect(messages.filter(({ type }) => type !== 'unclear' && type !== 'error')).toEqual([]);
  });

  it.each([
    ['{"result": NaN}', ['unclear']],
    ['5', ['unclear']],
    ['{"reslut":1}', ['unclear']],
    ['{"progress":2}', []],
    ['{"progress":0.5,"total":10}', ['progress']],
    ['{"error":"oops"}', ['error']],
    ['{"error":{"kode":"X"}}', ['error']],
  ])('loses no result and no error by wrong messages: %s', (line, types) => {
    expect(commandLine(line).messages.map(({ type }) => type)).toEqual(types);
  });

  it('counts as far as it makes sense', () => {
    const { messages, problems } = commandLine('{"progress":0.5,"total":10}');
    expect(messages).toEqual([{ type: 'progress', fraction: 0.5, message: null }]);
    expect(problems).toEqual([`unknown field "total": ${KNOWN}`]);
  });
});

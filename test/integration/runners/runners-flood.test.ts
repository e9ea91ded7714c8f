import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OUTPUT_LINE_MAX } from '../../../src/worker/isolation/output-lines.ts';
import { errorOf, resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

let runners: TestRunners;
beforeAll(async () => {
  runners = await testRunners('flood');
});
afterAll(async () => await runners.stop());

const isWell = async () => expect(resultOf(await runners.run('echo', 1))).toBe(1);

describe('a job that floods', () => {
  it('with one endless line has it cut, with a mark', async () => {
    const megabytes = 20;
    const { output, outcome } = await runners.run('long-line', { megabytes });
    expect(outcome?.outcome.kind).toBe('success');
    expect(output).toHaveLength(2);
    expect(output[0]?.length).toBeLessThanOrEqual(OUTPUT_LINE_MAX + 'stdout: '.length);
    expect(output[0]).toMatch(/x… \(\d+ characters cut\)$/);
    expect(output[1]).toBe('stdout: the next line');
  });

  it('with lines is read to the end, only later', async () => {
    const lines = 60_000;
    const { output } = await runners.run('many-lines', { lines });
    expect(output).toHaveLength(lines);
  });

  it('with messages is read to the end, too', async () => {
    const lines = 50_000;
    const { messages } = await runners.run('chatty', { lines });
    expect(messages).toHaveLength(lines);
  });

  it.each(['endless', 'thread-chatty'])(
    'slows down no other job, and can be ended: %s',
    async (key) => {
      const flood = await runners.begin(key);
      await until('it floods', () => flood.output.length + flood.messages.length > 2_000);
      await isWell();
      flood.runner.kill();
      expect(await flood.ended).toMatchObject({ outcome: null });
    },
  );

  it('with a result is refused it', async () => {
    expect(errorOf(await runners.run('gigabyte'))).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    await isWell();
  });
});

describe('a job that abuses the connection of its process', () => {
  it.each([
    ['close-connection', 'the job closed the connection between its process and the worker'],
    ['nonsense', 'the job wrote on the connection between its process and the worker'],
    ['long-message', 'the job sent a message of more than 16777216 characters'],
  ])('%s: is ended, with the reason', async (key, message) => {
    expect(errorOf(await runners.run(key))).toEqual({ code: 'CRASHED', message });
    await isWell();
  });

  it('cannot speak for another job', async () => {
    const ran = await runners.run('forge');
    expect(resultOf(ran)).toBe('mine');
    expect(ran.messages).toEqual([]);
    await isWell();
  });
});

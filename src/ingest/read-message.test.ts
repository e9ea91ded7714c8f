import { describe, expect, it, test } from 'vitest';
import { messageKey } from './message-key.ts';
import { type Mapping, readMessage } from './read-message.ts';

const MAPPING: Mapping = {
  tenant: 'default',
  source: 'orders',
  definitionKey: null,
  idHeader: null,
  requireId: false,
};

const read = (body: unknown, changes: Partial<Mapping> = {}, message = {}) => {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  const given = { id: 'm-1', position: null, body: bytes, headers: {}, ...message };
  return readMessage(given, { ...MAPPING, ...changes }, () => 'a-request-id');
};

describe('a message', () => {
  it('is the body of a request', () => {
    const body = { definitionKey: 'order.ship', params: { order: 7 }, priority: 3, tags: ['eu'] };
    expect(read(body)).toMatchObject({
      ok: true,
      hasId: true,
      job: {
        tenant: 'default',
        definitionKey: 'order.ship',
        paramsJson: '{"order":7}',
        priority: 3,
        tags: ['eu'],
        idempotencyKey: 'orders:m-1',
        requestId: null,
      },
    });
  });

  it('is the params of a fixed definition, whatever it looks like', () => {
    const body = { definitionKey: 'other', params: 1 };
    const { job } = read(body, { definitionKey: 'order.ship' }) as { job: object };
    expect(job).toMatchObject({ definitionKey: 'order.ship', paramsJson: JSON.stringify(body) });
  });

  it('keeps the idempotency key of its body', () => {
    const { job } = read({ definitionKey: 'a', idempotencyKey: 'own' }) as { job: object };
    expect(job).toMatchObject({ idempotencyKey: 'own' });
  });

  it('takes its id from a header', () => {
    const idOf = (value: unknown) => read(1, FIXED, { headers: { 'order-id': value } });
    const FIXED = { definitionKey: 'a', idHeader: 'order-id' };
    expect(idOf('7')).toMatchObject({ job: { idempotencyKey: 'orders:7' } });
    expect(idOf(7)).toMatchObject({ job: { idempotencyKey: 'orders:7' } });
    expect(idOf(Buffer.from('7'))).toMatchObject({ job: { idempotencyKey: 'orders:7' } });
    expect(idOf('')).toMatchObject({ hasId: false });
  });

  it('without an id gets a request id, or is refused', () => {
    const none = { id: null };
    expect(read({ definitionKey: 'a' }, {}, none)).toMatchObject({
      hasId: false,
      job: { idempotencyKey: null, requestId: 'a-request-id' },
    });
    const refused = read({ definitionKey: 'a' }, { requireId: true }, none);
    expect(refused).toMatchObject({ ok: false, code: 'NO_MESSAGE_ID' });
  });

  it('without an id has its position in the broker', () => {
    const kept = { id: null, position: '3:17' };
    expect(read({ definitionKey: 'a' }, {}, kept)).toMatchObject({
      hasId: true,
      job: { idempotencyKey: 'orders:3:17', requestId: null },
    });
    const named = read(
      { definitionKey: 'a' },
      { idHeader: 'id' },
      { ...kept, headers: { id: '7' } },
    );
    expect(named).toMatchObject({ job: { idempotencyKey: 'orders:7' } });
    const refused = read({ definitionKey: 'a' }, { idHeader: 'id', requireId: true }, kept);
    expect(refused).toMatchObject({ ok: false, code: 'NO_MESSAGE_ID' });
  });

  it('hands its trace to the job', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    expect(read({ definitionKey: 'a' }, {}, { headers: { traceparent } })).toMatchObject({
      job: { traceparent },
    });
  });

  test.each([
    ['no JSON', Buffer.from('{'), 'INVALID_JSON'],
    ['nothing', Buffer.from(''), 'INVALID_JSON'],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'INVALID_JSON'],
    ['a rounded number', Buffer.from('{"a":12345678901234567890}'), 'VALIDATION_FAILED'],
    ['no definition', {}, 'VALIDATION_FAILED'],
    ['a system definition', { definitionKey: '$webhook' }, 'VALIDATION_FAILED'],
    ['an unknown field', { definitionKey: 'a', prams: 1 }, 'VALIDATION_FAILED'],
    ['too many bytes', Buffer.alloc(1_048_577, ' '), 'PAYLOAD_TOO_LARGE'],
    ['too large params', { definitionKey: 'a', params: 'x'.repeat(131_072) }, 'PAYLOAD_TOO_LARGE'],
  ])('that is %s is refused', (_, body, code) => {
    expect(read(body)).toMatchObject({ ok: false, code });
  });
});

describe('the key of a message', () => {
  it('tells sources apart', () => {
    expect(messageKey('a:b', 'c')).not.toBe(messageKey('a', 'b:c'));
    expect(messageKey('a%3Ab', 'c')).not.toBe(messageKey('a:b', 'c'));
  });

  it('is a valid key, whatever the id', () => {
    for (const id of ['x'.repeat(300), 'a\u0000b', '\uD800', 'ü']) {
      const key = messageKey('orders', id);
      expect(key.length).toBeLessThanOrEqual(255);
      expect(key).toBe(messageKey('orders', id));
      expect(key).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }
    expect(messageKey('orders', 'x'.repeat(300))).not.toBe(messageKey('orders', 'y'.repeat(300)));
  });
});

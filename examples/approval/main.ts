import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Longshore } from 'longshore/client';
import { refund } from './jobs/refund.ts';
import { startServer } from './server.ts';

/** An agent proposes, the server and its worker restart, and a person approves by link. */

const letter = Promise.withResolvers<string>();
const mailbox = createServer((request, response) => {
  void text(request).then((body) => {
    letter.resolve((JSON.parse(body) as { text: string }).text);
    response.end();
  });
});
mailbox.listen(0, '127.0.0.1');
await once(mailbox, 'listening');

const port = await freePort();
const longshore = new Longshore({ url: `http://127.0.0.1:${port}` });
let server = await startServer(port);
const job = await longshore.enqueue(refund, {
  order: 7,
  complaint: 'The lamp arrived broken.',
  mailbox: `http://127.0.0.1:${(mailbox.address() as AddressInfo).port}/`,
});
const mail = await letter.promise;
console.log(mail.replace(/lsl_\S+/, 'lsl_…'));
await suspended();
console.log('the job waits, and the server restarts');
await server.stop();
server = await startServer(port);

// What the browser of a person does: it opens the link, and sends the form.
const link = mail.split('\n').at(-1) ?? '';
const page = await (await fetch(link)).text();
console.log(`the page has ${page.match(/<button/g)?.length ?? 0} buttons`);
const answer = new URLSearchParams({ '/approved': 'true', '/note': 'as agreed' });
const sent = await fetch(link, { method: 'POST', body: answer });
console.log(`the answer is answered ${sent.status}`);
const again = await fetch(link, { method: 'POST', body: answer });
console.log(`the same again is answered ${again.status}`);
console.log(JSON.stringify(await job.result()));

mailbox.closeAllConnections();
mailbox.close();
await server.stop();

async function suspended(): Promise<void> {
  while ((await job.get()).status !== 'suspended') {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The link must work after the restart, so the port stays the same. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return found;
}

import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface Mail {
  from: string;
  to: string[];
  source: string;
}

export interface MailServer {
  /** With the login that it accepts. */
  url: string;
  port: number;
  mails: Mail[];
  close(): Promise<void>;
}

/** A real SMTP server. It refuses recipients at `gone.example` for good, at `busy.example` for now. */
export async function startMailServer(): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      username === 'jobs' && password === 'mail-password'
        ? done(null, { user: username })
        : done(Object.assign(new Error('wrong login'), { responseCode: 535 })),
    onRcptTo: ({ address }, _, done) => {
      const refuse = (responseCode: number) =>
        done(Object.assign(new Error('refused'), { responseCode }));
      if (address.endsWith('@gone.example')) return refuse(550);
      if (address.endsWith('@busy.example')) return refuse(451);
      done();
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const source = Buffer.concat(chunks).toString();
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://jobs:mail-password@127.0.0.1:${port}`,
    port,
    mails,
    close: async () => await new Promise((resolve) => server.close(resolve)),
  };
}

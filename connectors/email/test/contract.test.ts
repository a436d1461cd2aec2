import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { connectorContract } from '@svc/connector-kit/testing/connector-contract.ts';
import { testUnless } from '@svc/testing/skip-note.ts';
import { password, startDovecot, whyNoDovecot, type Dovecot } from './dovecot.ts';
import { startSmtpSink, type SmtpSink } from './smtp-sink.ts';

let imap: Dovecot | undefined;
let smtp: SmtpSink | undefined;
beforeAll(async () => {
  if (whyNoDovecot === null) [imap, smtp] = await Promise.all([startDovecot(), startSmtpSink()]);
});
afterAll(() => Promise.all([imap?.stop(), smtp?.close()]));

connectorContract({
  test: testUnless(whyNoDovecot),
  folder: path.join(import.meta.dirname, '..'),
  load: () => import('../src/index.ts'),
  config: () => ({
    address: 'bot@home.example',
    user: 'bot',
    password_secret_key: 'PASSWORD',
    imap_host: '127.0.0.1',
    imap_port: imap?.port,
    imap_tls: 'none',
    smtp_host: '127.0.0.1',
    smtp_port: smtp?.port,
    smtp_tls: 'none',
    authserv_id: 'mx.home.example',
  }),
  secrets: { PASSWORD: password },
});

import { onTestFinished } from 'vitest';
import type { RunningConnector, StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { createFastClock } from '@svc/testing/fast-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';
import { password, type Dovecot } from './dovecot.ts';
import type { SmtpSink } from './smtp-sink.ts';

export const bot = 'bot@home.example';

export type OpenEmail = {
  live(): RunningConnector;
  /** Of the process that runs now. */
  fake(): FakeContext;
  logs: string[];
  /** Ends the process, and begins one with the same state and, where they are given, other settings. */
  restart(changed?: Partial<Config>): Promise<void>;
};

type Options = {
  imap: Dovecot;
  smtp: SmtpSink;
  /** The mailbox, each test one of its own. */
  user: string;
  config?: Partial<Config>;
  secrets?: Record<string, string>;
  /** Who may nothing. */
  strangers?: readonly string[];
  /** How turns go; they echo unless given. */
  script?: FakeContext['core']['script'];
};

/** The connector on a real IMAP server, with a scripted core. */
export async function openEmail({ imap, smtp, user, config, secrets, strangers = [], script }: Options): Promise<OpenEmail> {
  const folder = temporaryFolder();
  const logs: string[] = [];
  const open = async (changed: Partial<Config> = {}) => {
    const given = {
      ...defaultsOf(meta),
      address: bot,
      user,
      password_secret_key: 'PASSWORD',
      imap_host: '127.0.0.1',
      imap_port: imap.port,
      imap_tls: 'none',
      smtp_host: '127.0.0.1',
      smtp_port: smtp.port,
      smtp_tls: 'none',
      authserv_id: 'mx.home.example',
      ...config,
      ...changed,
    };
    const fake = fakeContext({ type: meta.type, dataDir: folder.path, config: given }, { PASSWORD: password, ...secrets });
    const { resolve } = fake.core;
    fake.core.resolve = async (envelope) => {
      const identity = await resolve(envelope);
      return strangers.includes(envelope.sender.raw_id) ? { ...identity, denied: true, denial: 'unknown_sender' } : identity;
    };
    if (script !== undefined) fake.core.script = script;
    fake.context.log = (level, message, fields) => void logs.push(JSON.stringify({ level, message, ...fields }));
    return { fake, running: await start(fake.context as unknown as StartContext<Config>, createFastClock(8)) };
  };
  let opened = await open();
  const stop = async (): Promise<void> => {
    opened.fake.shutdown.abort();
    await opened.running.stop();
  };
  onTestFinished(async () => {
    await stop();
    folder.remove();
  });
  return {
    live: () => opened.running,
    fake: () => opened.fake,
    logs,
    async restart(changed) {
      await stop();
      opened = await open(changed);
    },
  };
}

type Written = { from?: string; id?: string; subject?: string; headers?: string[]; said?: string; body?: string };

/** A mail as the own server delivers it, with its word on where it comes from. */
export function mail({
  from = 'ann@friend.example',
  id = 'a1@friend.example',
  subject = 'Lunch',
  headers = [],
  said = `dmarc=pass header.from=${from.split('@')[1] ?? ''}`,
  body = 'Shall we eat?\n\n-- \nAnn',
}: Written = {}): string {
  return [
    `Return-Path: <${from}>`,
    `Authentication-Results: mx.home.example; ${said}`,
    'Received: from mail by mx.home.example; Mon, 23 Nov 2026 10:00:00 +0000',
    `From: Ann <${from}>`,
    `To: Bot <${bot}>, eve@elsewhere.example`,
    `Subject: ${subject}`,
    `Message-ID: <${id}>`,
    'Date: Mon, 23 Nov 2026 10:00:00 +0000',
    ...headers,
    '',
    body,
    '',
  ].join('\n');
}

/** A field of a mail that went out, unfolded. */
export const fieldOf = (raw: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(
    raw
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n\r\n')[0]!
      .replaceAll('\r', ''),
  )?.[1];

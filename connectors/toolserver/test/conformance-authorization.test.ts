import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '@svc/testing/free-ports.ts';
import { registered } from './authorize.ts';
import { openBrowser } from './browser.ts';
import { conformanceProgram } from './conformance-program.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';

// The authorization part of the protocol authors' suite: the suite is the client, and the test its user.
test.each(['2025-11-25', '2026-07-28'])(
  'passes the authorization suite of %s',
  async (version) => {
    const server = await openToolserver();
    const [port = 0] = await freePorts(1);
    const callback = `http://127.0.0.1:${port}/callback`;
    const { id } = await registered(server, { redirect_uris: [callback] });
    const suite = spawn(process.execPath, [
      conformanceProgram,
      'authorization',
      `--url=${server.url}`,
      `--client-id=${id}`,
      `--resource=${server.url}/mcp`,
      `--port=${port}`,
      `--spec-version=${version}`,
    ]);
    onTestFinished(() => void suite.kill('SIGKILL'));
    const errors = text(suite.stderr);
    const ended = new Promise<number | null>((resolve) => suite.once('exit', resolve));

    let said = '';
    for await (const part of suite.stdout.setEncoding('utf8')) {
      said += part as string;
      const [url] = /http\S*response_type=code\S*(?=\s)/.exec(said) ?? [];
      if (url === undefined) continue;
      said = said.replace(url, 'OPENED');
      await approve(server, url, callback);
    }
    expect(await ended, said.slice(-4_000) + (await errors)).toBe(0);
    expect(said).toContain('Total: 3 passed, 0 failed');
  },
  120_000,
);

/** Does what a person does at the address: enters the operator's code and returns to the program. */
async function approve(server: OpenToolserver, url: string, callback: string): Promise<void> {
  const browser = openBrowser();
  const page = await browser.open(url, callback);
  const back = await browser.submit(page, { code: await server.code(), decision: 'approve' }, callback);
  // The program prints its callback address a moment before it listens there.
  await expect
    .poll(() =>
      fetch(back.url).then(
        () => 'there',
        () => 'not yet',
      ),
    )
    .toBe('there');
}

import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { registered } from './authorize.ts';
import { openBrowser } from './browser.ts';
import { conformanceProgram } from './conformance-program.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';

// The part of the suite of the protocol's authors that is about who may have tokens: it is a client, and the test its person.
test.each(['2025-11-25', '2026-07-28'])(
  'the authorization suite of %s finds nothing',
  async (version) => {
    const server = await openToolserver();
    const port = await freePort();
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

/** What a person does with the address: types the operator's code, and is sent back to the program. */
async function approve(server: OpenToolserver, url: string, callback: string): Promise<void> {
  const browser = openBrowser();
  const page = await browser.open(url, callback);
  const back = await browser.submit(page, { code: await server.code(), decision: 'approve' }, callback);
  await fetch(back.url);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

import { execFile } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codeFor, redeem, registered } from './authorize.ts';
import { conformanceProgram } from './conformance-program.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';
import { createSuiteServer } from './suite-server.ts';

const versions = ['2025-11-25', '2026-07-28'];

// The suite of the protocol's authors. Expected failures, which do not apply to a server of one tool, are in a file per version.
test.each(versions)(
  'passes the conformance suite of %s, except for requirements that do not apply',
  async (version) => {
    const { code, text } = await runSuite(await openToolserver(), version, `conformance-${version}.yml`);
    expect(code, text.slice(-6_000)).toBe(0);
  },
  300_000,
);

// The same transport and authorization, with a server that has all tools that the suite asks for.
test.each(versions)(
  "passes the conformance suite of %s with the suite's tools, except for requirements that need sessions",
  async (version) => {
    const server = await openToolserver({ createServer: createSuiteServer });
    const { code, text } = await runSuite(server, version, `conformance-tools-${version}.yml`);
    expect(code, text.slice(-6_000)).toBe(0);
  },
  300_000,
);

async function runSuite(server: OpenToolserver, version: string, baseline: string) {
  const client = await registered(server);
  const { body } = await redeem(server, client, await codeFor(server, client));
  const url = await signedIn(server.url, body.access_token);
  const expected = path.join(import.meta.dirname, baseline);
  return run(['server', '--url', `${url}/mcp`, '--requirements', version, '--expected-failures', expected]);
}

/** The suite cannot sign in: this proxy adds the token to its requests. */
async function signedIn(target: string, token: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const proxy = http.createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` };
    const onward = http.request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const run = (args: string[]): Promise<{ code: number | string; text: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [conformanceProgram, ...args], { timeout: 240_000, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, text: stdout + stderr }),
    );
  });

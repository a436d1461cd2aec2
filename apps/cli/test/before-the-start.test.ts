import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { compiledCode, runSvc } from '@svc/testing/run-svc.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const env = { ...compiledCode, PATH: process.env['PATH'], HOME: folder.path, SVC_DATA_DIR: path.join(folder.path, 'data') };

test('svc auth names the command that makes a set-up link when there is none', async () => {
  expect((await runSvc(['auth'], { env })).out).toContain('./svc auth setup');
  await runSvc(['auth', 'setup'], { env });
  expect((await runSvc(['auth'], { env })).out).toMatch(/^A set-up link is valid until \d{4}-\d\d-\d\d \d\d:\d\d\.\n$/);
});

test('svc logs -f says that there are no logs yet, and keeps waiting', async () => {
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/cli/src/main.ts'), 'logs', '-f'], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = (await once(child.stderr.setEncoding('utf8'), 'data')) as [string];
  expect(said).toContain('There are no logs yet');
  expect(child.exitCode).toBeNull();
});

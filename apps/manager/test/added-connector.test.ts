import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { forkConnector } from '@svc/connector-kit/testing/fork-connector.ts';
import { startLinkServer } from '@svc/connector-kit/testing/link-server.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findTypes } from '../src/connector-type/find-types.ts';
import { linkPackages } from '../src/connector-type/places.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

test('the example in the README of the connector kit works unchanged in a folder outside of this repository', async () => {
  const readme = readFileSync(path.join(repositoryRoot, 'packages/connector-kit/README.md'), 'utf8');
  const dir = path.join(folder.path, 'webhook/src');
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  writeFileSync(path.join(dir, 'index.ts'), /```ts\n(.*?)```/s.exec(readme)?.[1] ?? '');
  linkPackages(repositoryRoot, folder.path);
  const { types, problems } = await findTypes(path.join(folder.path, 'none'), folder.path);
  expect(problems).toEqual([]);

  const coreSocket = path.join(folder.path, 'core.sock');
  const core = await startLinkServer(coreSocket, ({ request, reply }) => {
    const text = request.op === 'handle' ? `${request.envelope.conversation_key} ${request.envelope.content.text}` : '';
    reply({ result: { actions: [{ type: 'reply', text }], outcome: 'replied', conversation_key: 'k', turn_id: 't' } });
  });
  const entry = types[0]?.entry ?? '';
  const forked = forkConnector({ entry, dataDir: folder.path, coreSocket, connectorType: 'webhook', config: { port: 0 } });
  try {
    const { url } = await forked.message('ready');
    const { body } = await requestJson(`${url}/message`, { method: 'POST', body: { user: 'ann', text: 'hi' }, timeoutMs: 5000 });
    expect(body).toEqual([{ type: 'reply', text: 'webhook:inst_1:user:ann hi' }]);
  } finally {
    forked.kill();
    await forked.exit;
    await core.stop();
  }
});

describe('the link to the packages that added connectors import', () => {
  const link = () => path.join(folder.path, 'node_modules/@svc');

  test('is updated when the repository was moved', () => {
    mkdirSync(path.dirname(link()));
    symlinkSync('/gone/node_modules/@svc', link());
    linkPackages('/here', folder.path);
    expect(readlinkSync(link())).toBe('/here/node_modules/@svc');
  });

  test('does not replace a real folder', () => {
    mkdirSync(path.join(link(), 'mine'), { recursive: true });
    linkPackages('/here', folder.path);
    expect(() => readlinkSync(link())).toThrow('EINVAL');
  });
});

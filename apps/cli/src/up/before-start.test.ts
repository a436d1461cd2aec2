import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { checkPorts } from './before-start.ts';

const host = '127.0.0.1';

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

const core = async () => ({ name: 'core', port: await takenPort(), setting: 'SVC_CORE_PORT' });
const dashboard = async () => ({
  name: 'dashboard',
  port: await takenPort(),
  setting: 'SVC_DASHBOARD_PORT',
  isOptional: true,
});

test('what the service can start without keeps it from nothing', async () => {
  await expect(checkPorts(host, [await dashboard()])).resolves.toBeUndefined();
});

test('a start that is refused names every port that is taken, so that one command moves them all', async () => {
  const refused = checkPorts(host, [await core(), await dashboard()]);
  await expect(refused).rejects.toMatchObject({
    why: expect.stringContaining('(dashboard) is used by'),
    run: expect.stringMatching(/SVC_CORE_PORT=\d+.*SVC_DASHBOARD_PORT=\d+.*\.\/svc up$/s),
  });
});

import { expect, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { turnSettings } from './settings.ts';

test('uses the call timeout of a tool server, else a minute', () => {
  const server = { type: 'http', url: 'http://x', headers: {}, safe: true } as const;
  const toolServers = [
    { ...server, name: 'usual' },
    { ...server, name: 'patient', callTimeoutMs: 665_000 },
  ];
  expect(turnSettings(engineRequest({ prompt: 'hi', cwd: '/w', toolServers }))).toMatchObject({
    mcpServers: { usual: { timeout: 60_000 }, patient: { timeout: 665_000 } },
  });
});

import { expect, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { threadParams } from './thread-config.ts';

const place = { packageDir: '/p', catalogs: { reader: '/r', writer: '/w' }, emptyDir: '/e', ownerHome: '/home/o', mark: 'm' };

test('with a key, names its variable to the provider and hides it from commands', () => {
  expect(threadParams(engineRequest({ prompt: 'hi', cwd: '/w', toolPolicy: 'full' }), place, 'vendor_by_key')).toMatchObject({
    config: {
      model_provider: 'svc',
      model_providers: { svc: { base_url: 'https://api.openai.com/v1', wire_api: 'responses', env_key: 'OPENAI_API_KEY' } },
      shell_environment_policy: { inherit: 'all', exclude: ['OPENAI_API_KEY'] },
    },
  });
});

test('uses the call timeout of a tool server, else five minutes', () => {
  const server = { type: 'http', url: 'http://x', headers: {}, safe: true } as const;
  const toolServers = [
    { ...server, name: 'usual' },
    { ...server, name: 'patient', callTimeoutMs: 665_500 },
  ];
  const request = engineRequest({ prompt: 'hi', cwd: '/w', toolPolicy: 'full', toolServers });
  expect(threadParams(request, place, null)).toMatchObject({
    config: { mcp_servers: { usual: { tool_timeout_sec: 300 }, patient: { tool_timeout_sec: 666 } } },
  });
});

test('leaves the provider to codex without a key and an endpoint', () => {
  expect(threadParams(engineRequest({ prompt: 'hi', cwd: '/w' }), place, null)).not.toHaveProperty('config.model_provider');
});

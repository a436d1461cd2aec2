import { expect, test } from 'vitest';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { threadParams } from './thread-config.ts';

const place = { packageDir: '/p', catalogs: { reader: '/r', writer: '/w' }, emptyDir: '/e', ownerHome: '/home/o', mark: 'm' };

test('with a key the vendor is asked with it by the name of its variable, which commands of a turn do not get', () => {
  expect(threadParams(engineRequest({ prompt: 'hi', cwd: '/w', toolPolicy: 'full' }), place, 'vendor_by_key')).toMatchObject({
    config: {
      model_provider: 'svc',
      model_providers: { svc: { base_url: 'https://api.openai.com/v1', wire_api: 'responses', env_key: 'OPENAI_API_KEY' } },
      shell_environment_policy: { inherit: 'all', exclude: ['OPENAI_API_KEY'] },
    },
  });
});

test('a call of a tool server is waited for as long as the server says, else five minutes', () => {
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

test('without a key and an endpoint the provider is left to codex', () => {
  expect(threadParams(engineRequest({ prompt: 'hi', cwd: '/w' }), place, null)).not.toHaveProperty('config.model_provider');
});

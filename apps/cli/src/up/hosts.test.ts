import { describe, expect, test } from 'vitest';
import type { ChildState } from '@svc/supervisor/child-spec.ts';
import { describeChange } from './host.ts';
import type { HostName } from '../service-urls.ts';
import { hostEnv } from './host-env.ts';
import { listeningInodes } from '@svc/supervisor/port-owner.ts';

const state = (fields: Partial<ChildState>): ChildState => ({
  status: 'running',
  pid: 7,
  restarts: 0,
  startedAt: 0,
  nextStartAt: null,
  failures: 0,
  lastExit: null,
  ready: null,
  ...fields,
});
const exit = { code: 1, signal: null, at: 1000, reason: 'ended with exit code 1: boom' };

describe('message about a host process', () => {
  test.each([
    ['nothing of a start', state({ status: 'starting' }), state({}), null],
    [
      'a crash and when it is tried again',
      state({}),
      state({ status: 'backoff', lastExit: exit, nextStartAt: 1400 }),
      'core ended with exit code 1: boom. Starting it again in 0.4 s.',
    ],
    [
      'a crash that is repaired at once',
      state({}),
      state({ status: 'backoff', lastExit: exit, nextStartAt: 1000 }),
      'core ended with exit code 1: boom. Starting it again now.',
    ],
    [
      'how often it failed in a row',
      state({}),
      state({ status: 'backoff', lastExit: exit, nextStartAt: 7400, failures: 7 }),
      'core ended with exit code 1: boom (7 times in a row). Starting it again in 6.4 s.',
    ],
    ['that it is back', state({ status: 'starting', lastExit: exit }), state({ lastExit: exit }), 'core is back (process 7).'],
    [
      'that it will not be tried again',
      state({}),
      state({ status: 'failed', lastExit: exit }),
      'core ended with exit code 1: boom. It is not started again; ./svc logs core shows more.',
    ],
  ])('%s', (_, before, after, line) => {
    expect(describeChange('core', before, after)).toBe(line);
  });
});

describe('environment of a host process', () => {
  const env = {
    PATH: '/bin',
    HOME: '/h',
    SVC_X: '1',
    NODE_COMPILE_CACHE: '/c',
    ANTHROPIC_API_KEY: 'k',
    CODEX_HOME: '/x',
    EMPTY: undefined,
  };
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

  const allocator = {
    MALLOC_MMAP_THRESHOLD_: expect.any(String) as string,
    MALLOC_TRIM_THRESHOLD_: expect.any(String) as string,
  };

  test('has memory allocator settings, which the operator can override', () => {
    expect(hostEnv('vault', { MALLOC_MMAP_THRESHOLD_: '1', MALLOC_ARENA_MAX: '3' })).toEqual({
      ...allocator,
      MALLOC_MMAP_THRESHOLD_: '1',
      MALLOC_ARENA_MAX: '3',
    });
  });

  test('is complete for the core, which starts engines', () => {
    expect(hostEnv('core', env)).toEqual({
      ...allocator,
      PATH: '/bin',
      HOME: '/h',
      SVC_X: '1',
      NODE_COMPILE_CACHE: '/c',
      ANTHROPIC_API_KEY: 'k',
      CODEX_HOME: '/x',
    });
  });

  test('has the OpenTelemetry variables only for the collector, which exports', () => {
    expect(hostEnv('collector', { ...env, ...otel })).toMatchObject(otel);
    expect(hostEnv('manager', { ...env, ...otel })).not.toMatchObject(otel);
  });

  test('has the user proof of this start only for core and collector, and not that of the shell', () => {
    const inherited = { ...env, GATEWAY_USER_PROOF: 'of the shell' };
    const having = (['core', 'manager', 'collector', 'vault'] as const).map((name) => hostEnv(name, inherited, 'made'));
    expect(having.map(({ GATEWAY_USER_PROOF }) => GATEWAY_USER_PROOF)).toEqual(['made', undefined, 'made', undefined]);
  });

  test.each(['manager', 'collector'] as const)('omits the credentials of engines for the %s', (name) => {
    expect(hostEnv(name, env)).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  test('has proxy and registry settings for processes that run npm or check for updates', () => {
    const npm = {
      https_proxy: 'http://proxy:3128',
      HTTP_PROXY: 'http://proxy:3128',
      NO_PROXY: 'localhost',
      SSL_CERT_FILE: '/ca.pem',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      npm_config_registry: 'https://registry.example',
    };
    const agent = { SSH_AUTH_SOCK: '/agent' };
    const all = { ...allocator, ...npm, PATH: '/bin' };
    const having = (name: HostName) => hostEnv(name, { PATH: '/bin', ...npm, ...agent });
    expect([having('dashboard'), having('manager'), having('collector')]).toEqual([all, all, { ...all, ...agent }]);
    expect(having('vault')).toEqual({ ...allocator, PATH: '/bin', NODE_EXTRA_CA_CERTS: '/ca.pem' });
  });

  test('has the folders of engine transcripts only for the collector', () => {
    const all = { ...allocator, PATH: '/bin', HOME: '/h', SVC_X: '1', NODE_COMPILE_CACHE: '/c' };
    expect(hostEnv('manager', env)).toEqual(all);
    expect(hostEnv('collector', env)).toEqual({ ...all, CODEX_HOME: '/x' });
  });
});

test('listeningInodes() finds the listening sockets of a port in the kernel table', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BCF 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 83731 1 0 100 0 0 10 0
   1: 0100007F:0BCF 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 83732 1 0 100 0 0 10 0
   2: 0100007F:0BD0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 83733 1 0 100 0 0 10 0`;
  expect(listeningInodes(table, 3023)).toEqual(['83731']);
});

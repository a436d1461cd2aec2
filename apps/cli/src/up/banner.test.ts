import { describe, expect, test } from 'vitest';
import { createStyle, plain } from '../terminal.ts';
import { renderBanner, type BannerFacts } from './banner.ts';

const compat = {
  name: 'Chat completions API',
  type: 'compat',
  status: 'running',
  url: 'http://127.0.0.1:3025',
  reason: null,
  newKey: 'sk-svc-abc',
  keysFile: '/home/ada/.svc/instances/compat/keys.json',
};
const facts: BannerFacts = {
  version: '0.1.0',
  readyMs: 812,
  dataDir: '/home/ada/.svc',
  services: [
    { name: 'core', url: 'http://127.0.0.1:3023', status: 'running', reason: null, faults: [] },
    { name: 'manager', url: 'http://127.0.0.1:3024', status: 'running', reason: null, faults: [] },
    { name: 'collector', url: 'http://127.0.0.1:3017', status: 'running', reason: null, faults: [] },
  ],
  instances: [compat],
  owner: null,
  setupUrl: null,
  engine: { id: 'claude', model: 'opus', why: 'It is installed and logged in.', fault: null },
};

describe('banner', () => {
  test('shows addresses, the new key, the engine with its reason, and the next steps', () => {
    expect(renderBanner(facts, plain)).toMatchInlineSnapshot(`
      "
      Assistant Gateway 0.1.0 runs, ready in 0.8 s
      Data: /home/ada/.svc

        Core        http://127.0.0.1:3023
        Manager     http://127.0.0.1:3024
        Collector   http://127.0.0.1:3017

        API         http://127.0.0.1:3025/v1  (base URL for any OpenAI client)
        API key     sk-svc-abc  shown this once
                    kept in /home/ada/.svc/instances/compat/keys.json

        Engine      claude (opus)
                    It is installed and logged in.

        Next        ./svc chat "hello"
                    ./svc status   ./svc doctor   ./svc logs -f   Ctrl-C stops all
      "
    `);
  });

  test('names the owner created by the first start, and their name in the shell', () => {
    const text = renderBanner({ ...facts, owner: { key: 'owner', name: 'Ada', shellUser: 'ada' } }, plain);
    expect(text).toContain(
      '  Owner       Ada (person "owner"), made by this first start; may do everything\n' +
        '              Known in this shell as ada, and by the API key above. All people: ./svc person\n',
    );
    expect(renderBanner(facts, plain)).not.toContain('Owner');
  });

  test('names only the file of a key that an earlier start created', () => {
    const text = renderBanner({ ...facts, instances: [{ ...compat, newKey: null }] }, plain);
    expect(text).not.toContain('sk-svc-abc');
    expect(text).toContain('API key     in /home/ada/.svc/instances/compat/keys.json');
  });

  test('shows which parts are down, and why', () => {
    const services = facts.services.map((service) =>
      service.name === 'manager' ? { ...service, status: 'backoff', reason: 'ended with exit code 1: boom' } : service,
    );
    const instances = [{ ...compat, status: 'failed', url: null, reason: 'port 3025 is used by nginx (process 7)' }];
    const text = renderBanner({ ...facts, services, instances, engine: null }, plain);
    expect(text).toContain('runs in part');
    expect(text).toContain('Manager     backoff: ended with exit code 1: boom');
    expect(text).toContain('  API         failed: port 3025 is used by nginx (process 7)');
    expect(text).toContain('still being looked for');
  });

  test('shows faults of a running process', () => {
    const services = facts.services.map((service) =>
      service.name === 'core' ? { ...service, faults: ['everybody is denied: trust.seed.json is not JSON'] } : service,
    );
    const text = renderBanner({ ...facts, services }, plain);
    expect(text).toContain('runs in part');
    expect(text).toContain('              everybody is denied: trust.seed.json is not JSON');
  });

  test('shows that a running vault is sealed', () => {
    const vault = { name: 'vault', url: 'http://127.0.0.1:3022', status: 'running', reason: null, faults: [] };
    const notices = ['The vault is sealed: ./svc vault unseal'];
    const text = renderBanner({ ...facts, services: [...facts.services, { ...vault, notices }] }, plain);
    expect(text).toContain('  Vault       http://127.0.0.1:3022\n              The vault is sealed: ./svc vault unseal\n');
    expect(text).toContain('runs, ready in');
  });

  test('shows how to connect a model when there is none', () => {
    const engine = { id: 'offline', model: null, why: 'Nothing else is installed.', fault: null };
    expect(renderBanner({ ...facts, engine }, plain)).toContain('Connect a model');
  });

  test('shows why the configured engine cannot answer', () => {
    const engine = { id: 'codex', model: null, why: 'It is set as the default.', fault: 'Codex is not installed.' };
    expect(renderBanner({ ...facts, engine }, plain)).toContain(
      '              It is set as the default.\n              Codex is not installed.\n',
    );
  });

  test('shows the set-up link only at the first start', () => {
    const url = 'http://localhost:3020/setup#token';
    expect(renderBanner({ ...facts, setupUrl: url }, plain)).toContain(`Set up      ${url}`);
    expect(renderBanner(facts, plain)).not.toContain('Set up');
  });

  test('wraps long text at the width of the terminal, but no command', () => {
    const why = 'No other engine is ready. It is not installed: "./svc engine install claude". Nor is the other one.';
    const instances = [
      { ...compat, status: 'failed', url: null, reason: `port 3025 is used by ${'python3 -m http.server '.repeat(4)}` },
    ];
    const text = renderBanner({ ...facts, instances, engine: { id: 'offline', model: null, why, fault: null } }, plain, 60);
    expect(text.split('\n').filter((line) => line.length > 60 && !line.includes('Ctrl-C'))).toEqual([]);
    expect(text).toContain('              "./svc engine install claude". Nor is the\n              other one.');
  });

  test('has colours only on a terminal, and not with NO_COLOR', () => {
    const isColoured = (isTTY: boolean, env: Record<string, string>) =>
      renderBanner(facts, createStyle({ isTTY }, env)).includes('\u001B');
    expect(isColoured(true, {})).toBe(true);
    expect(isColoured(true, { NO_COLOR: '1' })).toBe(false);
    expect(isColoured(true, { TERM: 'dumb' })).toBe(false);
    expect(isColoured(false, {})).toBe(false);
  });
});

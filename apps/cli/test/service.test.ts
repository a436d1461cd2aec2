import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CliError } from '../src/cli-error.ts';
import { uninstall } from '../src/commands/uninstall.ts';
import { openServiceManager, type Machine } from '../src/service/service-manager.ts';
import { renderAgent, renderUnit, startupEnv } from '../src/service/unit-file.ts';

let folder: TemporaryFolder;
const at = (...parts: string[]) => path.join(folder.path, ...parts);
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(at('bin'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  folder.remove();
});

/** A program that records its calls and runs a shell script. */
function program(name: string, script = ''): void {
  writeFileSync(at('bin', name), `#!/bin/sh\nprintf '%s ' ${name} "$@" >>'${at('calls')}'; echo >>'${at('calls')}'\n${script}\n`);
  chmodSync(at('bin', name), 0o755);
}
const calls = (): string[] => (existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trim().split(/ *\n/) : []);
const machine = (platform: NodeJS.Platform, root = at('a b (c)', 'é 100%')): Machine => ({
  platform,
  root,
  home: at('home'),
  user: 'anna',
  uid: 501,
  env: { PATH: `${at('bin')}:/usr/bin:/bin` },
  logFile: at('data', 'logs/service.log'),
});
const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', args, { encoding: 'utf8', env: { ...process.env, HOME: at('home'), XDG_RUNTIME_DIR: at('run') } });
const startup = (root: string) => ({ root, env: { PATH: '/usr/bin', SVC_DATA_DIR: '/d "x" 5%\\y$z' }, stopTimeoutMs: 10_000 });

describe('service manager on Linux', () => {
  test('writes, loads and starts a unit, with its paths and settings quoted for systemd', async () => {
    program('systemctl');
    program('loginctl', 'echo Linger=no');
    const linux = machine('linux');
    const manager = openServiceManager(linux);
    expect(await manager.state()).toMatchObject({ file: null, isRunning: false });
    await manager.install(startup(linux.root));
    const file = at('home/.config/systemd/user/svc.service');
    const unit = readFileSync(file, 'utf8');
    expect(unit).toContain(`ExecStart="${linux.root.replace('%', '%%')}/svc" up\n`);
    expect(unit).toContain(String.raw`Environment="SVC_DATA_DIR=/d \"x\" 5%%\\y$z"`);
    expect(calls()).toEqual(['systemctl --user daemon-reload', 'systemctl --user enable --now svc.service']);
    expect(await manager.state()).toEqual({ file, isRunning: true, isEnabled: true, lingers: false });
    await openServiceManager(linux).remove();
    expect(existsSync(file)).toBe(false);
    expect(calls().slice(-2)).toEqual(['systemctl --user disable --now svc.service', 'systemctl --user daemon-reload']);
  });

  test.for(['plain', 'a b (c) é 100%', '$HOME', '%h'])(
    'systemd-analyze verify finds no problem in the unit of %j',
    (name, { skip }) => {
      if (analyze('--version').error !== undefined)
        skip('systemd-analyze is not on this machine (Debian: apt-get install systemd)');
      mkdirSync(at(name), { recursive: true });
      writeFileSync(at(name, 'svc'), '#!/bin/sh\n', { mode: 0o755 });
      mkdirSync(at('run'), { mode: 0o700 });
      const verify = (unit: string) => {
        writeFileSync(at('svc.service'), unit);
        const { status, stderr } = analyze('verify', '--user', at('svc.service'));
        return { status, stderr };
      };
      const unit = renderUnit(startup(at(name)));
      expect(verify(unit)).toEqual({ status: 0, stderr: '' });
      expect(verify(unit.replace('KillMode=', 'KilMode=')).stderr).toContain('KilMode');
      expect(verify(unit.replace('/svc"', '/other"')).status).not.toBe(0);
    },
  );

  test('restarts a running service when its unit has changed, since it would keep its old settings', async () => {
    program('systemctl');
    const linux = machine('linux');
    const manager = openServiceManager(linux);
    await manager.install(startup(linux.root));
    const restarts = () => calls().filter((call) => call.includes('restart'));
    await manager.install(startup(linux.root));
    expect(restarts()).toEqual([]);
    await manager.install({ ...startup(linux.root), env: { PATH: '/usr/bin', SVC_DATA_DIR: '/other' } });
    expect(restarts()).toEqual(['systemctl --user restart svc.service']);
    // One that did not run was started with the new unit.
    program('systemctl', 'case $2 in is-active) exit 3 ;; esac');
    await manager.install(startup(linux.root));
    expect(restarts()).toHaveLength(1);
  });

  test('a second installation gets a separate unit, and each finds its own', async () => {
    program('systemctl');
    const [one, two] = [machine('linux'), machine('linux', at('other'))];
    await openServiceManager(one).install(startup(one.root));
    await openServiceManager(two).install(startup(two.root));
    await openServiceManager(one).install(startup(one.root));
    expect(readdirSync(at('home/.config/systemd/user')).toSorted()).toEqual(['svc-2.service', 'svc.service']);
    await openServiceManager(two).remove();
    expect(readdirSync(at('home/.config/systemd/user'))).toEqual(['svc.service']);
  });

  test('replaces a handwritten unit of the same installation', async () => {
    program('systemctl');
    const linux = machine('linux', at('plain'));
    mkdirSync(at('home/.config/systemd/user'), { recursive: true });
    writeFileSync(at('home/.config/systemd/user/svc.service'), `[Service]\nExecStart="${linux.root}/svc" up\n`);
    await openServiceManager(linux).install(startup(linux.root));
    expect(readdirSync(at('home/.config/systemd/user'))).toEqual(['svc.service']);
  });

  test('leaves no unit behind when systemd does not answer, and shows the reason', async () => {
    program('systemctl', 'echo "Failed to connect to bus: No medium found" >&2; exit 1');
    const linux = machine('linux');
    const refused = await openServiceManager(linux)
      .install(startup(linux.root))
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: 'systemd does not answer.', why: 'Failed to connect to bus: No medium found' });
    expect(readdirSync(at('home/.config/systemd/user'))).toEqual([]);
  });

  test('reports that systemctl is missing', async () => {
    const linux = { ...machine('linux'), env: { PATH: at('bin') } };
    const refused = await openServiceManager(linux)
      .install(startup(linux.root))
      .catch((error: unknown) => error);
    expect((refused as CliError).why).toContain('no such program: systemctl');
  });
});

describe('service manager on macOS', () => {
  test('writes, starts and removes a launch agent', async () => {
    program('launchctl', '[ "$1" = print ] && echo "state = running"; exit 0');
    const mac = machine('darwin', at('a & <b>'));
    const manager = openServiceManager(mac);
    await manager.install(startup(mac.root));
    const file = at('home/Library/LaunchAgents/assistant-gateway.svc.plist');
    expect(readFileSync(file, 'utf8')).toContain(`<string>${folder.path}/a &amp; &lt;b&gt;/svc</string><string>up</string>`);
    expect(calls().at(-1)).toBe(`launchctl bootstrap gui/501 ${file}`);
    expect(await openServiceManager(mac).state()).toMatchObject({ file, isRunning: true, lingers: null });
    await openServiceManager(mac).remove();
    expect(calls().at(-1)).toBe('launchctl bootout gui/501/assistant-gateway.svc');
    expect(existsSync(file)).toBe(false);
  });
});

test('refuses other systems and says what to configure there', () => {
  expect(() => openServiceManager(machine('freebsd'))).toThrow(
    expect.objectContaining({ message: expect.stringContaining('freebsd'), why: expect.stringContaining('run "./svc up"') }),
  );
});

test('refuses a path with a line break, which could add lines', () => {
  expect(() => renderUnit(startup('/a\nExecStartPre=/bin/evil'))).toThrow(CliError);
  expect(() => renderAgent(startup('/a\n'), 'l', '/log')).toThrow(CliError);
  expect(() => renderUnit({ ...startup('/a'), env: { PATH: '/b\n[Service]' } })).toThrow(CliError);
});

test('passes on settings of the shell, but no secrets', () => {
  const env = {
    PATH: '/bin',
    HOME: '/h',
    SVC_DATA_DIR: '/d',
    SVC_MANAGER_TOKEN: 't',
    SVC_VAULT_ADMIN_KEY: 'k',
    OPENAI_API_KEY: 'o',
  };
  expect(startupEnv(env)).toEqual({
    env: { PATH: '/bin', SVC_DATA_DIR: '/d' },
    left: ['SVC_MANAGER_TOKEN', 'SVC_VAULT_ADMIN_KEY'],
  });
});

describe('svc uninstall', () => {
  let out = '';
  let root = '';
  beforeEach(() => {
    out = '';
    root = at('clone');
    for (const dir of ['clone/node_modules/x', 'clone/.runtime', 'clone/apps', 'data/run', 'home'])
      mkdirSync(at(dir), { recursive: true });
    writeFileSync(at('clone/.env'), '');
    writeFileSync(at('data/run/supervisor.lock'), '');
    program('systemctl', 'exit 1');
    vi.stubEnv('SVC_DATA_DIR', at('data'));
    vi.stubEnv('HOME', at('home'));
    vi.stubEnv('XDG_CONFIG_HOME', at('home/.config'));
    vi.stubEnv('PATH', `${at('bin')}:/usr/bin:/bin`);
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  });

  test('removes the installed parts, and lists the program, .env and the data as kept', async () => {
    expect(await uninstall({ yes: true }, root)).toBe(0);
    expect(readdirSync(root).toSorted()).toEqual(['.env', 'apps']);
    expect(existsSync(at('data/run/supervisor.lock'))).toBe(true);
    expect(out).toContain(`Stays:\n  ${root}  (the program itself, .env too)\n  ${at('data')}  (the data;`);
  });

  test('removes the data on request, but never a folder that contains other things', async () => {
    expect(await uninstall({ yes: true, data: true }, root)).toBe(0);
    expect(existsSync(at('data'))).toBe(false);
    for (const dir of [root, at('home'), folder.path]) {
      mkdirSync(path.join(dir, 'run'), { recursive: true });
      writeFileSync(path.join(dir, 'run/supervisor.lock'), '');
      vi.stubEnv('SVC_DATA_DIR', dir);
      await expect(uninstall({ yes: true, data: true }, root)).rejects.toThrow('the data folder is not removed');
    }
    mkdirSync(at('photos'));
    symlinkSync(at('photos'), at('link'));
    vi.stubEnv('SVC_DATA_DIR', at('link'));
    await expect(uninstall({ yes: true, data: true }, root)).rejects.toThrow('the data folder is not removed');
    expect(existsSync(at('photos'))).toBe(true);
  });

  test('removes nothing when it cannot ask for confirmation', async () => {
    await expect(uninstall({ data: true }, root)).rejects.toThrow('there is no terminal to ask in');
    expect(existsSync(at('clone/node_modules'))).toBe(true);
    expect(existsSync(at('data'))).toBe(true);
  });

  test('refuses while the service is running', async () => {
    writeFileSync(at('data/run/supervisor.json'), JSON.stringify({ pid: process.pid, started_at: 0, services: [], faults: [] }));
    await expect(uninstall({ yes: true }, root)).rejects.toThrow('the service runs');
  });

  test('refuses while the service is running in a terminal, also when a unit exists that does not run it', async () => {
    mkdirSync(at('home/.config/systemd/user'), { recursive: true });
    const unit = at('home/.config/systemd/user/svc.service');
    writeFileSync(unit, renderUnit(startup(root)));
    program('systemctl', 'case $2 in is-active) exit 3 ;; esac');
    program('loginctl');
    writeFileSync(at('data/run/supervisor.json'), JSON.stringify({ pid: process.pid, started_at: 0, services: [], faults: [] }));
    await expect(uninstall({ yes: true, data: true }, root)).rejects.toThrow('the service runs');
    expect([existsSync(at('data')), existsSync(at('clone/node_modules')), existsSync(unit)]).toEqual([true, true, true]);
  });
});

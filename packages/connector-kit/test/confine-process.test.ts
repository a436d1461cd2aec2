import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const packages = path.join(import.meta.dirname, '../..');

/** Runs `code` after `confineProcess` in a process with these flags, and returns its output. */
function run(code: string, flags: string[]): string {
  const script = `const { confineProcess } = await import('${packages}/connector-kit/src/child/confine-process.ts');
    confineProcess();
    const t = (work) => { try { return 'open ' + work(); } catch (error) { return error.code; } };
    console.log(JSON.stringify([${code}]));`;
  return execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], { encoding: 'utf8' }).trim();
}

const confined = ['--permission', `--allow-fs-read=${packages}`, '--disable-warning=ExperimentalWarning'];
const attempts = `
  t(() => process.kill(process.ppid, 0)), t(() => process.kill(-1, 0)), t(() => process.kill({ valueOf: () => process.ppid }, 0)),
  t(() => Reflect.get(process, '_kill')(process.ppid, 0)), t(() => Reflect.get(process, '_debugProcess')(process.ppid)),
  t(() => process.getBuiltinModule('process').kill(process.ppid, 0)),
  await import('node:process').then((module) => t(() => module.kill(process.ppid, 0))),
  await import('node:v8').then((module) => t(() => module.setFlagsFromString('--trace-turbo')))`;

test('[M08] a confined process cannot signal other processes or set V8 flags, by any alias', () => {
  expect(JSON.parse(run(attempts, confined))).toEqual(Array.from({ length: 8 }, () => 'ERR_ACCESS_DENIED'));
});

test('[M08] a confined process cannot change the priority of other processes', () => {
  const attempt = `t(() => process.getBuiltinModule('os').setPriority(process.ppid, 1)),
    await import('node:os').then(({ setPriority }) => t(() => setPriority({ valueOf: () => process.ppid }, 1))),
    await import('node:os').then(({ setPriority }) => t(() => setPriority(1))),
    await import('node:os').then(({ setPriority }) => t(() => setPriority(process.pid, 2)))`;
  expect(JSON.parse(run(attempt, confined))).toEqual([
    'ERR_ACCESS_DENIED',
    'ERR_ACCESS_DENIED',
    'open undefined',
    'open undefined',
  ]);
});

test('a confined process may signal itself, and cannot remove the restrictions', () => {
  expect(run('t(() => process.kill(process.pid, 0))', confined)).toBe('["open true"]');
  const attempt =
    't(() => Object.defineProperty(process, "kill", { value: 1 })), t(() => delete process.kill), t(() => process.kill(process.ppid, 0))';
  expect(JSON.parse(run(attempt, confined)).at(-1)).toBe('ERR_ACCESS_DENIED');
});

test('WASI gives WebAssembly no files, however it is created', () => {
  const attempt = `...await import('node:wasi').then(({ WASI }) => {
    // 0: a folder is open. 8: there is none.
    const look = (make) => t(() => {
      const wasi = make();
      const memory = new WebAssembly.Memory({ initial: 1 });
      if (wasi.finalizeBindings) wasi.finalizeBindings({ exports: { memory } });
      return (wasi.wasiImport ?? wasi).fd_prestat_get(3, 0);
    });
    const options = { version: 'preview1', preopens: { '/': '/' } };
    const made = new WASI(options);
    class Sub extends WASI {}
    const native = Object.getPrototypeOf(made.wasiImport);
    const attempts = [
      () => new WASI(options), () => WASI(options), () => new Sub(options), () => Reflect.construct(WASI, [options], Sub),
      () => new made.constructor(options), () => new (Object.getPrototypeOf(made).constructor)(options), () => new WASI.prototype.constructor(options),
      () => new (process.getBuiltinModule('wasi').WASI)(options),
      () => new made.wasiImport.constructor([], [], ['/', '/'], [0, 1, 2]), () => new native.constructor([], [], ['/', '/'], [0, 1, 2]),
      () => { Object.defineProperty(Object.prototype, 'preopens', { value: { '/': '/' } }); return new WASI({ version: 'preview1' }); },
    ];
    return attempts.map(look);
  })`;
  const answers = JSON.parse(run(attempt, [...confined, '--allow-wasi', '--disable-warning=PERM0005']));
  const [none, refused] = ['open 8', 'ERR_ACCESS_DENIED'];
  expect(answers).toEqual([...Array(8).fill(none), refused, refused, none]);
});

test('a process without --permission is not restricted', () => {
  expect(run('t(() => process.kill(process.ppid, 0))', [])).toBe('["open true"]');
});

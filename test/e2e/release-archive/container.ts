import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** The system programs that the service and its `svc` run. */
const programs =
  'cat chmod chown cmp cp date dirname env grep id ldconfig ls mkdir mktemp mv readlink rm sed sh sleep tail uname'.split(' ');
/** Uses no kernel features of containers, so that it also runs where they are forbidden, such as in a container. */
const isolation = ['--isolation', 'chroot'];

/** Why no image can be built and started on this machine; null when it can. */
export function whyNoContainers(): string | null {
  if (process.platform !== 'linux') return 'containers are of Linux';
  if (process.getuid?.() !== 0) return 'this is not root';
  try {
    execFileSync('buildah', ['--version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'buildah is not installed (apt-get install buildah)';
  }
}

export type Container = {
  /** Runs a program in the image to its end, or as a process. */
  run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<{ code: number; out: string }>;
  start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
  remove(): Promise<void>;
};

/** Builds the image of the Containerfile from an archive, on a base of files from this machine, because no registry is used. `work`: an empty folder. */
export async function buildContainer(recipe: string, archive: string, node: string, work: string): Promise<Container> {
  const name = `svc-test-${process.pid}-${Date.now()}`;
  const buildah = (...args: string[]) => run('buildah', args, { maxBuffer: 2 ** 24 });
  const rootfs = path.join(work, 'rootfs');
  await copySystem(rootfs, node);
  writeFileSync(path.join(work, 'base'), 'FROM scratch\nCOPY . /\n');
  await buildah('bud', ...isolation, '-q', '-f', path.join(work, 'base'), '-t', `localhost/${name}-base`, rootfs);
  const which = ['--build-arg', `BASE=localhost/${name}-base`, '--build-arg', `ARCHIVE=${path.basename(archive)}`];
  await buildah('bud', ...isolation, '-q', ...which, '-f', recipe, '-t', `localhost/${name}`, path.dirname(archive));
  await buildah('from', '--name', name, `localhost/${name}`);
  const line = (args: readonly string[], env: Readonly<Record<string, string>>): string[] => {
    const settings = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    return ['run', ...isolation, ...settings, name, '--', ...args];
  };
  return {
    run: (args, env) =>
      new Promise((resolve) => {
        const child = execFile('buildah', line(args, env), (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), out: stdout + stderr }),
        );
        child.stdin?.end(); // it may wait for what is said to it
      }),
    start: (args, env) => spawn('buildah', line(args, env), { stdio: ['ignore', 'pipe', 'pipe'] }),
    async remove() {
      await buildah('rm', name);
      await buildah('rmi', `localhost/${name}`, `localhost/${name}-base`);
    },
  };
}

/** A root file system with the programs above, their libraries and those of Node. */
async function copySystem(to: string, node: string): Promise<void> {
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(path.join(to, 'usr', folder), { recursive: true });
    symlinkSync(`usr/${folder}`, path.join(to, folder));
  }
  for (const folder of ['etc', 'opt', 'proc', 'sys', 'dev', 'var']) mkdirSync(path.join(to, folder));
  mkdirSync(path.join(to, 'tmp'), { mode: 0o777 });
  execFileSync('chmod', ['1777', path.join(to, 'tmp')]);
  for (const program of programs) {
    const found = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']
      .map((dir) => path.join(dir, program))
      .find((file) => existsSync(file));
    if (found === undefined) throw new Error(`This system has no ${program}.`);
    copyFileSync(realpathSync(found), path.join(to, 'usr/bin', program));
    await copyLibraries(found, to);
  }
  await copyLibraries(node, to);
  writeFileSync(path.join(to, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n');
  writeFileSync(path.join(to, 'etc/group'), 'root:x:0:\n');
  execFileSync('cp', ['-rL', '/etc/ld.so.conf', '/etc/ld.so.conf.d', path.join(to, 'etc')]);
  execFileSync('ldconfig', ['-r', to]);
}

async function copyLibraries(program: string, to: string): Promise<void> {
  const listed = await run('ldd', [program]).catch(() => ({ stdout: '' })); // a script, or linked with nothing
  for (const library of listed.stdout.match(/\/\S+/g) ?? []) {
    mkdirSync(path.join(to, path.dirname(library)), { recursive: true });
    copyFileSync(realpathSync(library), path.join(to, library));
  }
}

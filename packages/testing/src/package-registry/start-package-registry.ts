import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';

export type PackageRegistry = {
  url: string;
  /** The requested paths, in order. */
  asked: string[];
  /** Publishes a version, which becomes the newest one. Its manifest is made from `name` and `version`. */
  publish(name: string, version: string, files: Readonly<Record<string, PackedFile>>): void;
  /** Holds back tarballs until the returned function is called, which stops an installation in the middle. */
  hold(): () => void;
  close(): Promise<void>;
};

/** A package registry on loopback that npm can install from: manifests and tarballs, nothing else. */
export async function startPackageRegistry(): Promise<PackageRegistry> {
  const packages = new Map<string, Map<string, Buffer>>();
  const asked: string[] = [];
  let held: Promise<void> | null = null;

  const server = http.createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    asked.push(path);
    void answer(path, response);
  });

  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    const [name = '', file] = path.split('/-/');
    const versions = packages.get(name);
    const tarball = file === undefined ? null : versions?.get(file.replace('.tgz', ''));
    if (tarball) {
      await held;
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball);
    } else if (versions && file === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(describe(name, versions)));
    } else {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    }
  };

  const describe = (name: string, versions: Map<string, Buffer>) => ({
    name,
    'dist-tags': { latest: [...versions.keys()].at(-1) },
    versions: Object.fromEntries(
      Array.from(versions, ([version, tarball]) => [version, { name, version, dist: dist(name, version, tarball) }]),
    ),
  });

  const dist = (name: string, version: string, tarball: Buffer) => ({
    tarball: `${url}/${name}/-/${version}.tgz`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  });

  const { url, close } = await listen(server);

  return {
    url,
    asked,
    publish(name, version, files) {
      const versions = packages.get(name) ?? new Map<string, Buffer>();
      packages.set(name, versions);
      const manifest = { text: JSON.stringify({ name, version }) };
      versions.set(version, makeTarball({ 'package.json': manifest, ...files }));
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = null;
        resolve();
      };
    },
    close,
  };
}

/** A file of a package: its text, and whether it is executable. */
export type PackedFile = { text: string; isProgram?: boolean };

const blockSize = 512;

/** A package as a registry serves it: a gzipped tar with every file under `package/`. */
export function makeTarball(files: Readonly<Record<string, PackedFile>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, { text, isProgram = false }]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize);
    return [header(`package/${name}`, content.length, isProgram ? 0o755 : 0o644), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]));
}

function header(name: string, size: number, mode: number): Buffer {
  const block = Buffer.alloc(blockSize);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  // The checksum is computed with blanks in its own field.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

export const codexPackage = '@openai/codex';

export type FakeCodexOptions = {
  /** The version that its program reports; by default the published one. */
  says?: string;
  isLoggedIn?: boolean;
};

/** A package that looks like codex: its program answers the engine's checks before a turn. */
export function fakeCodex(
  version: string,
  { says = version, isLoggedIn = true }: FakeCodexOptions = {},
): Record<string, PackedFile> {
  const program = `#!/bin/sh
case "$1" in
  --version) echo "codex-cli ${says}" ;;
  login) ${isLoggedIn ? 'echo "Logged in using ChatGPT"' : 'echo "Not logged in"; exit 1'} ;;
  *) exit 2 ;;
esac
`;
  return { 'vendor/any/bin/codex': { text: program, isProgram: true } };
}

import { createHash } from 'node:crypto';
import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';
import { makeTarball, type PackedFile } from './make-tarball.ts';

export type PackageRegistry = {
  url: string;
  /** Paths that were asked for, in order. */
  asked: string[];
  /** Publishes a version, which is the newest one from now on. Its manifest is made from `name` and `version`. */
  publish(name: string, version: string, files: Readonly<Record<string, PackedFile>>): void;
  /** Tarballs are held back until the returned function is called: an installation stands still in the middle. */
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

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

type Sbom = {
  serialNumber?: string;
  metadata: { timestamp: string };
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

/**
 * The contents of a release as CycloneDX: the installed packages of npm's list for the lock (npm's own `--omit=dev` also drops packages that tests share), and the
 * included Node. Reproducible: without a serial number, and with the time of the release. @param time in seconds since 1970
 */
export function sbomOf(stage: string, platform: string, time: number): string {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error'];
  const text = execFileSync('npm', args, { cwd: stage, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { serialNumber: _random, metadata, components, dependencies, ...sbom } = JSON.parse(text) as Sbom;
  const installed = installedIn(stage);
  const is = (ref: string) => installed.has(ref) || ref.startsWith('@svc/');
  const whole = {
    ...sbom,
    metadata: { ...metadata, timestamp: new Date(time * 1000).toISOString() },
    components: [...components.filter((each) => is(each['bom-ref'])), nodeOf(stage, platform)],
    dependencies: dependencies
      .filter(({ ref }) => is(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => is(other)) })),
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

type Lock = { packages: Record<string, { version?: string; os?: string | string[]; cpu?: string | string[] }> };
const readLock = (...parts: string[]): Lock => JSON.parse(readFileSync(path.join(...parts), 'utf8')) as Lock;

/** Names and versions of the installed packages, as recorded by npm. */
function installedIn(stage: string): Set<string> {
  const { packages } = readLock(stage, 'node_modules/.package-lock.json');
  return new Set(Object.entries(packages).map(([place, { version }]) => `${place.split('node_modules/').at(-1)}@${version}`));
}

function nodeOf(stage: string, platform: string): { 'bom-ref': string } {
  const { packages } = readLock(stage, 'runtime/package-lock.json');
  for (const [place, { version, os, cpu }] of Object.entries(packages)) {
    if (`${[os].flat()[0]}-${[cpu].flat()[0]}` !== platform) continue;
    const name = place.replace('node_modules/', '');
    return { 'bom-ref': `${name}@${version}`, type: 'platform', name, version, purl: `pkg:npm/${name}@${version}` } as {
      'bom-ref': string;
    };
  }
  throw new Error(`runtime/package-lock.json has no Node for ${platform}.`);
}

import { describe, expect, test } from 'vitest';
import { lockFaults } from './check-lock.ts';

describe('the check of a lock file', () => {
  test('finds packages that run scripts and addresses of registries', () => {
    const lock = {
      packages: {
        '': {},
        'node_modules/@svc/core': { resolved: 'apps/core', link: true },
        'node_modules/fine': { version: '1.0.0' },
        'node_modules/esbuild': { version: '1.0.0', hasInstallScript: true },
        'node_modules/private': { version: '1.0.0', resolved: 'https://registry.example/private.tgz' },
      },
    };
    expect(lockFaults('lock', lock)).toEqual([
      'lock: node_modules/esbuild runs a script when it is installed',
      'lock: node_modules/private names the address https://registry.example/private.tgz',
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { lockFaults } from './check-lock.ts';

describe('lock file check', () => {
  test('reports packages that run install scripts, have an address or are under the GPL', () => {
    const lock = {
      packages: {
        '': {},
        'node_modules/@svc/core': { resolved: 'apps/core', link: true },
        'node_modules/fine': { version: '1.0.0' },
        'node_modules/esbuild': { version: '1.0.0', hasInstallScript: true },
        'node_modules/signal': { version: '1.0.0', license: 'GPL-3.0' },
        'node_modules/server': { version: '1.0.0', license: 'AGPL-3.0-only' },
        'node_modules/library': { version: '1.0.0', license: 'LGPL-3.0-or-later' },
        'node_modules/zip': { version: '1.0.0', license: '(MIT OR GPL-3.0-or-later)' },
        'node_modules/private': { version: '1.0.0', resolved: 'https://registry.example/private.tgz' },
      },
    };
    expect(lockFaults('lock', lock)).toEqual([
      'lock: node_modules/esbuild runs a script when it is installed',
      'lock: node_modules/signal is under GPL-3.0',
      'lock: node_modules/server is under AGPL-3.0-only',
      'lock: node_modules/private names the address https://registry.example/private.tgz',
    ]);
  });
});

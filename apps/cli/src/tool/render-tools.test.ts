import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { renderImport, renderTools } from './render-tools.ts';

test('the list shows whether each server is on, its address, state and audience', () => {
  const text = renderTools(
    {
      servers: {
        'svc-toolbelt': { type: 'built-in', enabled: true, safe: true, description: 'Own tools.' },
        files: { type: 'stdio', command: 'npx', args: ['-y', 'a b', '\u001B[2J'], env: {}, enabled: false, safe: false },
        hub: { type: 'http', url: 'https://x.example/mcp', enabled: true, safe: false },
      },
      states: {
        'svc-toolbelt': { state: 'there', at: 1_000_000 },
        files: { state: 'untried' },
        hub: { state: 'missing', at: 1_060_000, reason: 'Tool server hub is not there: it hangs.', last_there_at: 1_000_000 },
      },
    },
    plain,
    1_120_000,
  );
  expect(text).toContain('      last answered 2 min ago');
  expect(text).toContain('      Tool server hub is not there: it hangs. (1 min ago) It last answered 2 min ago.');
  expect(text).toContain('on   svc-toolbelt  part of the service  (for: full and read)');
  expect(text).toContain('      Own tools.');
  expect(text).toContain('off  files         npx -y "a b" "\\u001b[2J"  (for: full)');
  expect(text).toContain('on   hub           https://x.example/mcp  (for: full)');
});

test('an import lists imported servers with warnings, and skipped ones with reasons', () => {
  const text = renderImport(
    {
      ok: true,
      imported: [{ name: 'My Hub', as: 'my-hub', enabled: false, replaced: true, warnings: ['not taken over: timeout'] }],
      skipped: [{ name: 'old', reason: 'only stdio' }],
    },
    plain,
  );
  expect(text.split('\n')).toEqual([
    '  imported My Hub as my-hub, replacing the earlier one, switched off',
    '           not taken over: timeout',
    '  skipped  old: only stdio',
  ]);
});

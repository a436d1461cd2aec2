import fc from 'fast-check';
import { expect, test } from 'vitest';
import { refuseUnknownCommand } from './find-command.ts';
import { currentSpelling } from './old-spellings.ts';
import { allCommands } from './program.ts';

const split = (line: string) => (line === '' ? [] : line.split(' '));

test.each([
  ['trust', 'person'],
  ['trust list --json', 'person list --json'],
  ['trust roles --json', 'role list --json'],
  ['trust grant anna known --surface=email -c k', 'person grant anna known --channel=email -c k'],
  ['deliveries', 'delivery'],
  ['deliveries retry all', 'delivery retry all'],
  ['sessions --all -f', 'session list --all -f'],
  ['new connector shop --dir x', 'connector new shop --dir x'],
  ['backup delete bak_1', 'backup remove bak_1'],
  ['vault delete KEY', 'vault remove KEY'],
  ['upload delete upl_1', 'upload remove upl_1'],
  ['announce create hello', 'announce add hello'],
  ['role delete reader', 'role remove reader'],
  ['vault agent reader --tier TRUSTED', 'vault agent add reader --tier TRUSTED'],
  ['vault agent reader --revoke', 'vault agent remove reader'],
  ['events --surface compat --identity anna', 'events --channel compat --sender anna'],
])('"svc %s" becomes "svc %s", with a hint', (before, now) => {
  const { args, hint } = currentSpelling(split(before));
  expect(args).toEqual(split(now));
  expect(hint).toMatch(/^".*" is ".*" now\./);
  expect(() => refuseUnknownCommand(allCommands(), args)).not.toThrow();
});

test.each([
  '',
  'person',
  'vault agent',
  'vault agent list',
  'vault agent --json',
  'vault agent help',
  'chat trust',
  'new',
  'search --surface',
  '__proto__',
  'constructor prototype',
  'events __proto__',
])('"svc %s" is unchanged', (line) => expect(currentSpelling(split(line))).toEqual({ args: split(line), hint: null }));

test.each([
  ['upload holiday.mp4', 'upload add holiday.mp4'],
  ['upload a b --json', 'upload add a b --json'],
  ['upload --mime text/csv data', 'upload add --mime text/csv data'],
  ['upload ./list', 'upload add ./list'],
])('"svc %s" is an abbreviation of "svc %s"', (short, long) => {
  expect(currentSpelling(split(short))).toEqual({ args: split(long), hint: null });
});

test.each([
  'upload',
  'upload --json',
  'upload -n 5',
  'upload --before upl_1',
  'upload list',
  'upload remove upl_1',
  'upload help',
])('"svc %s" uploads no file', (line) => expect(currentSpelling(split(line)).args).toEqual(split(line)));

test('rewriting is idempotent', () => {
  const word = fc.constantFrom(
    'trust',
    'roles',
    'deliveries',
    'sessions',
    'vault',
    'agent',
    'a',
    '--revoke',
    '--surface',
    'delete',
    'new',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      const once = currentSpelling(words).args;
      expect(currentSpelling(once)).toEqual({ args: once, hint: null });
    }),
  );
});

/** A command line in current spelling; `hint` says what to write when it was given in an old one. */
export type Spelled = { args: readonly string[]; hint: string | null };

type Rename = { from: readonly string[]; to: readonly string[] };

/** Longer ones first: the first match counts. */
const renamedCommands: readonly Rename[] = [
  { from: ['trust', 'roles'], to: ['role', 'list'] },
  { from: ['trust'], to: ['person'] },
  { from: ['deliveries'], to: ['delivery'] },
  { from: ['sessions'], to: ['session', 'list'] },
  { from: ['new', 'connector'], to: ['connector', 'new'] },
  { from: ['backup', 'delete'], to: ['backup', 'remove'] },
  { from: ['vault', 'delete'], to: ['vault', 'remove'] },
  // Never a command here, but the name of the routes: "upload delete ID" would upload a file.
  { from: ['upload', 'delete'], to: ['upload', 'remove'] },
  { from: ['announce', 'delete'], to: ['announce', 'remove'] },
  { from: ['announce', 'create'], to: ['announce', 'add'] },
  { from: ['role', 'delete'], to: ['role', 'remove'] },
  { from: ['role', 'create'], to: ['role', 'add'] },
];

/** By command. */
const renamedOptions: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  ['person', new Map([['--surface', '--channel']])],
  [
    'events',
    new Map([
      ['--surface', '--channel'],
      ['--identity', '--sender'],
    ]),
  ],
]);

/** Keeps earlier names of commands and options working. */
export function currentSpelling(args: readonly string[]): Spelled {
  const found = renamedCommands.find(({ from }) => from.every((word, at) => args[at] === word));
  const renamed = found === undefined ? vaultAgent(args) : [...found.to, ...args.slice(found.from.length)];
  if (found === undefined && isUploadOfFile(args)) return { args: ['upload', 'add', ...args.slice(1)], hint: null };
  const spelled = withOptions(renamed);
  const changed = [
    ...(found === undefined ? [] : [hintOf(found.from.join(' '), found.to.join(' '))]),
    ...(renamed === args || found !== undefined ? [] : [hintOf('vault agent', renamed.slice(0, 3).join(' '))]),
    ...spelled.options,
  ];
  return { args: spelled.args, hint: changed.length === 0 ? null : changed.join('\n') };
}

/** `upload FILE` is a short form, not an old one. A file named like a verb is written `./list`. */
const isUploadOfFile = ([noun, ...words]: readonly string[]): boolean =>
  noun === 'upload' &&
  !/^(list|add|remove|help|-h|--help)$/.test(words[0] ?? 'list') &&
  !words.some((word) => /^(-n|--lines|--before)/.test(word)) &&
  words.some((word) => !word.startsWith('-'));

const hintOf = (before: string, now: string): string => `"./svc ${before}" is "./svc ${now}" now.`;

/** `vault agent NAME --tier TIER` and `vault agent NAME --revoke` used to be one command. */
function vaultAgent(args: readonly string[]): readonly string[] {
  const [noun, sub, name, ...rest] = args;
  const isOld = noun === 'vault' && sub === 'agent' && name !== undefined && /^(?!-|(list|add|remove|help)$)/.test(name);
  if (!isOld) return args;
  const kept = rest.filter((word) => word !== '--revoke');
  return ['vault', 'agent', kept.length < rest.length ? 'remove' : 'add', name, ...kept];
}

function withOptions(args: readonly string[]): { args: readonly string[]; options: string[] } {
  const names = renamedOptions.get(args[0] ?? '');
  if (names === undefined) return { args, options: [] };
  const options = new Set<string>();
  const rewritten = args.map((word) => {
    const [name = '', ...value] = word.split('=');
    const now = names.get(name);
    if (now === undefined) return word;
    options.add(`"${name}" is "${now}" now.`);
    return [now, ...value].join('=');
  });
  return { args: rewritten, options: [...options] };
}

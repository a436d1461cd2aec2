import type { Place, Word } from './completion-tree.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What a script needs besides the tree: the data folder, for shells without SVC_DATA_DIR. */
type Facts = { places: readonly Place[]; dataDir: string };

/**
 * A script that completes `svc` and `./svc`. Fixed words are part of it, and instances are read from their folders: completion
 * starts no program.
 */
export function renderCompletion(shell: Shell, facts: Facts): string {
  return { bash, zsh, fish }[shell](facts);
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const texts = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');
const nounsOf = (places: readonly Place[]): string[] => places.map(({ path }) => path).filter((path) => path !== '');

/** Finds the command before the word: the longest known path, without options. The same code works in bash and zsh. */
const findPath = (places: readonly Place[]): string => `  local at='' word
  for word in "\${before[@]}"; do
    case $word in -*) continue ;; esac
    case \${at:+$at }$word in
      ${nounsOf(places).map(quote).join('|')}) at=\${at:+$at }$word ;;
    esac
  done`;

const instancesIn = (dataDir: string): string =>
  `command ls -1 -- "\${SVC_DATA_DIR:-"${dataDir.replaceAll(/[\\"$`]/g, '\\$&')}"}/instances" 2>/dev/null`;

const bash = ({ places, dataDir }: Facts): string => `# Completion of svc for bash: source <(./svc completion bash)
_svc() {
  local current=\${COMP_WORDS[COMP_CWORD]} words='' takes=''
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${findPath(places)}
  case $at in
${places
  .map(
    ({ path, words, options, takes }) =>
      `    ${quote(path)}) words=${quote(texts(words))} options=${quote(texts(options))} takes=${takes ?? ''} ;;`,
  )
  .join('\n')}
  esac
  COMPREPLY=()
  case $current in -*) words=$options ;; *)
    case $takes in
      instances) words="$words $(${instancesIn(dataDir)})" ;;
      files) compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _svc svc ./svc
`;

const zshList = (words: readonly Word[]): string =>
  words.map(({ text, help }) => quote(`${text.replaceAll(':', '\\:')}:${help}`)).join(' ');

const zsh = ({ places, dataDir }: Facts): string => `#compdef svc
# Completion of svc for zsh: source <(./svc completion zsh)
_svc() {
  local -a before list options names
  local takes=''
  before=("\${(@)words[2,CURRENT-1]}")
${findPath(places)}
  case $at in
${places
  .map(
    ({ path, words, options, takes }) =>
      `    ${quote(path)}) list=(${zshList(words)}) options=(${zshList(options)}) takes=${takes ?? "''"} ;;`,
  )
  .join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option options
    return
  fi
  if (( \${#list} )); then _describe command list; fi
  case $takes in
    instances) names=("\${(@f)$(${instancesIn(dataDir)})}"); compadd -a names ;;
    files) _files ;;
  esac
}
if (( \${+functions[compdef]} )); then compdef _svc svc ./svc; fi
`;

const fishQuote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fish = ({ places, dataDir }: Facts): string => `# Completion of svc for fish: ./svc completion fish | source
function __svc_at
  set -l at
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l next (string trim -- "$at $word")
    contains -- $next ${nounsOf(places).map(fishQuote).join(' ')}; and set at $next
  end
  test "$at" = "$argv[1]"
end
function __svc_instances
  set -l data ${fishQuote(dataDir)}
  set -q SVC_DATA_DIR; and set data $SVC_DATA_DIR
  command ls -1 -- "$data/instances" 2>/dev/null
end
complete -c svc -e
complete -c svc -f
${places.flatMap(fishLines).join('\n')}
`;

function fishLines({ path, words, options, takes }: Place): string[] {
  const when = `complete -c svc -n ${fishQuote(`__svc_at ${fishQuote(path)}`)}`;
  return [
    ...words.map(({ text, help }) => `${when} -a ${fishQuote(text)} -d ${fishQuote(help)}`),
    ...options.map(({ text, help }) => `${when} -l ${text.replace(/^--/, '')} -d ${fishQuote(help)}`),
    ...(takes === 'instances' ? [`${when} -a '(__svc_instances)' -d instance`] : []),
    ...(takes === 'files' ? [`${when} -F`] : []),
  ];
}

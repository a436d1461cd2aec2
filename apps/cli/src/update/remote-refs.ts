/** What `git ls-remote` says of a repository. */
export type RemoteRefs = {
  /** Each tag with the commit that it names, and the object that it is: another one for an annotated tag. */
  tags: ReadonlyMap<string, { commit: string; object: string }>;
  branches: ReadonlyMap<string, string>;
};

const linePattern = /^([0-9a-f]{40}|[0-9a-f]{64})\trefs\/(heads|tags)\/(.+)$/;
/** Behind the name of an annotated tag, for the commit that it is of. */
const peeled = '^{}';

/** Reads the lines of `git ls-remote`. Lines of other refs are passed over. */
export function parseRemoteRefs(text: string): RemoteRefs {
  const tags = new Map<string, { commit: string; object: string }>();
  const branches = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, sha = '', kind, name = ''] = linePattern.exec(line) ?? [];
    if (kind === 'heads') branches.set(name, sha);
    else if (kind === 'tags' && name.endsWith(peeled)) {
      const tag = name.slice(0, -peeled.length);
      tags.set(tag, { object: tags.get(tag)?.object ?? sha, commit: sha });
    } else if (kind === 'tags') tags.set(name, { commit: tags.get(name)?.commit ?? sha, object: sha });
  }
  return { tags, branches };
}

/** The output of `git ls-remote`. */
export type RemoteRefs = {
  /** Each tag with its commit and its object, which differ for an annotated tag. */
  tags: ReadonlyMap<string, { commit: string; object: string }>;
  branches: ReadonlyMap<string, string>;
};

const linePattern = /^([0-9a-f]{40}|[0-9a-f]{64})\trefs\/(heads|tags)\/(.+)$/;
/** The suffix after the name of an annotated tag, on the line of its commit. */
const peeled = '^{}';

/** Parses the output of `git ls-remote`. Other refs are ignored. */
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

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { buildSchema, graphqlSync, type GraphQLSchema } from 'graphql';
import type { Answer, Call } from './github-routes.ts';
import type { GitHubStore } from './github-store.ts';

let read: GraphQLSchema | undefined;
const schema = (): GraphQLSchema =>
  (read ??= buildSchema(readFileSync(path.join(import.meta.dirname, 'description/github-api.graphql'), 'utf8')));

/** Who edited something last, which the REST API does not report. `faults`: violations of GitHub's schema in the query or in our answer. */
export function runQuery({ body }: Call, store: GitHubStore): Answer & { faults: string[] } {
  const node = ({ id }: { id: string }) => {
    const found = store.byNode(id);
    if (found === undefined) return null;
    const edited = found.edited ?? null;
    return {
      __typename: 'title' in found ? 'Issue' : 'IssueComment',
      id,
      lastEditedAt: edited === null ? null : new Date(edited.at).toISOString(),
      editor: edited === null ? null : { __typename: 'User', login: edited.by.login },
    };
  };
  const { data, errors = [] } = graphqlSync({
    schema: schema(),
    source: String(body['query']),
    rootValue: { node },
    variableValues: body['variables'] as Record<string, unknown>,
  });
  const faults = errors.map(({ message }) => `GraphQL: ${message}`);
  const told: object[] = errors.map(({ message }) => ({ message }));
  // GitHub's answer for what was deleted.
  if (faults.length === 0 && data?.['node'] === null)
    told.push({ type: 'NOT_FOUND', path: ['node'], message: 'Could not resolve to a node with the global id.' });
  return { status: 200, body: { data, ...(told.length > 0 && { errors: told }) }, faults };
}

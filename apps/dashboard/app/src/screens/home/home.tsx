import type { HealthInfo } from '@svc/contract/service.ts';
import { Link } from '@tanstack/react-router';
import { MessageCircle } from 'lucide-react';
import { Empty, Page } from '../../parts/page.tsx';
import { useApi } from '../../parts/query.ts';
import { Status } from '../../parts/status.tsx';

const processes = ['core', 'manager', 'collector'] as const;

/** What needs the operator. A process that is away is a row, never a blank page. */
export function Home() {
  const core = useApi<HealthInfo>('/core/health', 30_000);
  const manager = useApi<HealthInfo>('/manager/health', 30_000);
  const collector = useApi<HealthInfo>('/collector/health', 30_000);
  const asked = { core, manager, collector };
  const needs = processes.flatMap((name) => {
    const { data, error } = asked[name];
    if (error !== null) return [{ name, words: `The ${name} does not answer: ${error.message}` }];
    return (data?.degraded ?? []).map((words) => ({ name, words }));
  });
  return (
    <Page title="Home">
      {needs.length === 0 ? (
        <Empty title="Nothing needs you">
          <p>
            <Link to="/chat" className="primary">
              <MessageCircle aria-hidden size={16} /> Say something
            </Link>
          </p>
        </Empty>
      ) : (
        <ul className="rows-list">
          {needs.map(({ name, words }) => (
            <li key={name + words}>
              <Status kind="bad" words={name} />
              <p>{words}</p>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

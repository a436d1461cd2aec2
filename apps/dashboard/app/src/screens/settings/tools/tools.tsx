import { t } from '@svc/chat-ui/language/t.ts';
import type { BuiltInToolServer, ToolServerDocument, ToolServerEntry, ToolServerState } from '@svc/contract/tool-server.ts';
import { FileInput, Plus } from 'lucide-react';
import { useState } from 'react';
import { Empty, Loaded, Section } from '../../../parts/page.tsx';
import { useApi } from '../../../parts/query.ts';
import { toolsPath } from './tools-path.ts';
import { ToolForm } from './tool-form.tsx';
import { ToolImport } from './tool-import.tsx';
import { ToolRow } from './tool-row.tsx';

export type ToolServer = { name: string; entry: ToolServerEntry | BuiltInToolServer; state: ToolServerState };
type Open = { what: 'add' } | { what: 'import' } | { what: 'change'; name: string; entry: ToolServerEntry };

/** The tool servers of the assistant: their states, and who may use each. */
export function Tools() {
  const query = useApi<ToolServerDocument>(toolsPath, 15_000);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const names = Object.keys(query.data?.servers ?? {});
  return (
    <Section
      title={t('Tool servers')}
      actions={
        <>
          <button type="button" className="plain-button" onClick={() => setOpen({ what: 'import' })}>
            <FileInput aria-hidden size={16} /> {t('Import')}
          </button>
          <button type="button" className="primary" onClick={() => setOpen({ what: 'add' })}>
            <Plus aria-hidden size={16} /> {t('Add tool server')}
          </button>
        </>
      }
    >
      <Loaded query={query}>
        {(document) => {
          const servers = serversOf(document);
          return (
            <>
              <ul className="rows-list">
                {servers.map((server) => (
                  <ToolRow
                    key={server.name}
                    server={server}
                    onChange={(entry) => setOpen({ what: 'change', name: server.name, entry })}
                  />
                ))}
              </ul>
              {servers.every(({ entry }) => entry.type === 'built-in') && (
                <Empty title={t("The assistant has only the service's own tools.")}>
                  <p>
                    {t(
                      'Add a tool server (MCP), such as files, an issue tracker or a browser, or import those of another program.',
                    )}
                  </p>
                </Empty>
              )}
            </>
          );
        }}
      </Loaded>
      {open?.what === 'import' && <ToolImport onClose={close} />}
      {open?.what === 'add' && <ToolForm known={null} names={names} onClose={close} />}
      {open?.what === 'change' && <ToolForm known={open} names={names} onClose={close} />}
    </Section>
  );
}

const serversOf = ({ servers, states }: ToolServerDocument): ToolServer[] =>
  Object.entries(servers).map(([name, entry]) => ({ name, entry, state: states[name] ?? { state: 'untried' } }));

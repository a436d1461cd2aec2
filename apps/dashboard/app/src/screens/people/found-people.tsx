import { plural, t } from '@svc/chat-ui/language/t.ts';
import type { Principal } from '@svc/contract/trust.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { count } from '../../parts/format.ts';
import { Empty } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { findPeople } from './find-people.ts';
import { PeopleTable } from './people-table.tsx';

type Props = { people: readonly Principal[]; onShow(id: string): void };

/** More can be found by searching. */
const maxShown = 100;

/** People, with a search by name, number or role. The search is in the address. */
export function FoundPeople({ people, onShow }: Props) {
  const asked = useSearch({ from: '/people' });
  const { text } = asked;
  const navigate = useNavigate({ from: '/people' });
  const look = (words: string) => void navigate({ search: { ...asked, text: words }, replace: true, resetScroll: false });
  const found = useMemo(() => findPeople(people, text), [people, text]);
  if (people.length === 0) return <Empty title={t('Nobody is known yet')} />;
  return (
    <>
      <form className="filters" role="search" aria-label={t('People')} onSubmit={(event) => event.preventDefault()}>
        <SearchField label={t('Name, number or role')} value={text} onChange={look} />
      </form>
      <p className="muted small" role="status">
        {countWords(found.length, people.length)}
      </p>
      {found.length === 0 ? (
        <Empty title={t('No person matches')}>
          <button type="button" className="plain-button" onClick={() => look('')}>
            {t('Show all')}
          </button>
        </Empty>
      ) : (
        <PeopleTable people={found.slice(0, maxShown)} onShow={onShow} />
      )}
      {found.length > maxShown && (
        <p className="muted">
          {plural(found.length - maxShown, '{n} more: find them by a word.', '{n} more: find them by a word.')}
        </p>
      )}
    </>
  );
}

const countWords = (found: number, all: number): string =>
  found === all
    ? plural(all, '{n} person', '{n} people')
    : plural(found, '{n} of {all} people', '{n} of {all} people', { all: count(all) });

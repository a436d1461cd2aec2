import { t } from '@svc/chat-ui/language/t.ts';
import { Link } from '@tanstack/react-router';

type Props = { channel: string; sender: string; session: string | null };

/** A link from a refusal to its explanation. */
export const WhyLink = ({ channel, sender, session }: Props) => (
  <Link
    to="/people"
    search={{ channel, sender, key: session ?? '', public: '' }}
    className="plain-button"
    aria-label={t('Why was {sender} refused?', { sender })}
  >
    {t('Why?')}
  </Link>
);

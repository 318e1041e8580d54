// Parts that are drawn again only where what they show has changed.
import { Component, type ComponentChild, type ComponentClass } from 'preact';

/**
 * The same part, compared by its properties. Not by keeping what it drew: a tree that is kept holds the page that it was drawn in, that page those
 * before it, and so on without end.
 */
export function memo<P extends object>(Part: (props: P) => ComponentChild): ComponentClass<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const names = Object.keys({ ...this.props, ...next }) as (keyof P)[];
      return names.some((name) => this.props[name] !== next[name]);
    }

    override render(props: P): ComponentChild {
      return <Part {...props} />;
    }
  };
}

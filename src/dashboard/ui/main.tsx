// Starts the page.
import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/board.css';
import './style/figures.css';
import './style/charts.css';
import './style/table.css';
import './style/entry.css';
import './style/call.css';
import './style/detail.css';
import './style/picture.css';
import { App } from './parts/app.js';
import { startAlerts } from './state/alerts.js';
import { stayConnected } from './state/connection.js';
import { keepAddress, stripToken } from './state/deep-link.js';

stripToken();
keepAddress();
const root = document.getElementById('app');
if (root !== null) {
  render(<App />, root);
  startAlerts();
  stayConnected();
}

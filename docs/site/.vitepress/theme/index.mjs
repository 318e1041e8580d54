// The default theme with the system's fonts, and the colours of the dashboard.
import DefaultTheme from 'vitepress/theme-without-fonts';
import './colours.css';

export default DefaultTheme;

// The default theme with the system's fonts, and the colors of the dashboard.
import DefaultTheme from 'vitepress/theme-without-fonts';
import './colors.css';

export default DefaultTheme;

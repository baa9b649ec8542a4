// The theme as it comes, without the fonts that it would bring along, and with rules for paper.
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

export default DefaultTheme;

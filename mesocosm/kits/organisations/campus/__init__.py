"""A university department during some weeks of a term: courses, people, coursework and exams."""

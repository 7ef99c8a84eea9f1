INSERT INTO limit_c.row(payload) VALUES(convert_to(repeat('x',106),'UTF8'));
